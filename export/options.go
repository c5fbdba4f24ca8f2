package export

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/storage"
)

// The names of the options of an export.
const (
	nameFlat    = "flat"
	nameColumns = "columns"
	nameExplode = "explode"
	nameTimes   = "times"
	nameText    = "text"
	nameBlobs   = "blobs"
	nameImages  = "images"
	nameDebayer = "debayer"
	nameVideo   = "video"
	nameClouds  = "clouds"
	nameDropNaN = "drop-nan"
	nameTracks  = "tracks"
	nameChain   = "chain"
	nameLayout  = "layout"

	nameResample = "resample"
	nameJoin     = OptionJoin
	nameMethod   = "method"
	nameMaxGap   = "max-gap"
)

// OptionJoin is the name of the option whose value is a topic.
const OptionJoin = "join"

// OfColumns reports whether an option is about the columns or rows of tables, which streams have, too.
func OfColumns(name string) bool {
	switch name {
	case nameFlat, nameColumns, nameExplode, nameTimes, nameText, nameBlobs, nameResample, nameJoin, nameMethod,
		nameMaxGap:
		return true
	}
	return false
}

// optionsOf returns the options of a format whose tables have these codecs.
func optionsOf(codecs []string) storage.Options {
	var list storage.Options
	if len(codecs) > 0 {
		list = append(list, option(storage.NameCompression, storage.OptionChoice, "codec of the pages", codecs...))
	}
	return append(list,
		option(nameColumns, storage.OptionText,
			"fields that become columns, with commas between: header.stamp,angular_velocity; "+
				"topics without any of them keep all"),
		option(nameFlat, storage.OptionSwitch,
			"a column for each number of a struct, with points in its name, in place of a column "+
				"with structs"),
		option(nameExplode, storage.OptionText,
			"list of structs that gets a row for each element, such as transforms"),
		option(nameTimes, storage.OptionChoice,
			"what times in messages become: a timestamp, or their sec and nanosec", "timestamp", "struct"),
		option(nameText, storage.OptionChoice,
			"what text becomes: UTF-8, with U+FFFD for other bytes, or its bytes", "utf8", "binary"),
		option(nameBlobs, storage.OptionChoice,
			"what bytes of messages become: a column of bytes, or a struct, which has file, offset and "+
				"size of large ones that lie in a file as they are, and the bytes of all others", "inline", "placed"),
		option(nameImages, storage.OptionChoice,
			"what becomes of pictures: a column of bytes, files (PNG, or as stored if compressed) "+
				"with a frames.csv, or nothing", "inline", "files", "none"),
		option(nameDebayer, storage.OptionSwitch, "colours for pictures of a Bayer sensor, in place of its pixels"),
		option(nameVideo, storage.OptionSwitch,
			"pictures as an MP4 file: JPEG, H.264, H.265, VP9 and AV1 as stored, with exact "+
				"times; pixels through ffmpeg if it is on the path, else as Motion JPEG"),
		option(nameClouds, storage.OptionChoice,
			"what becomes of point clouds: a column of bytes, files with a frames.csv, or nothing", "inline", "pcd",
			"pcd-compressed",
			"ply", "none"),
		option(nameDropNaN, storage.OptionSwitch, "leave points without a position out of PCD and PLY files"),
		option(nameTracks, storage.OptionChoice,
			"tracks of topics, too: of poses (tum, kitti) or of positions on Earth (geojson, gpx)", "none", "tum", "kitti",
			"geojson", "gpx"),
		option(nameChain, storage.OptionText,
			"also write the track of one frame in another out of /tf, as TARGET:SOURCE, such as "+
				"map:base_link"),
		option(nameResample, storage.OptionText,
			"one table of all topics with a row at each tick: a rate (10Hz) or a period (100ms)"),
		option(nameJoin, storage.OptionText, "one table of all topics with a row per message of this one"),
		option(nameMethod, storage.OptionChoice,
			"what a row has of a topic (--resample, --join): its last message, the nearest one, or "+
				"what is between two", "last", "nearest", "linear"),
		option(nameMaxGap, storage.OptionDuration,
			"how far from its row a message may be (--resample, --join); rows have null instead of "+
				"others"),
		option(nameLayout, storage.OptionChoice,
			"where tables stand: in folders by the names of topics, or in folders such as "+
				"topic=imu%2Fdata for readers of partitions", "tree", "hive"),
	)
}

// option returns an option; values are the values of a choice, the default first.
func option(name string, kind storage.OptionKind, help string, values ...string) storage.Option {
	return storage.Option{Name: name, Kind: kind, Values: values, Help: help}
}

// settings are what the options of an output say.
type settings struct {
	columns.Options
	codec                          string
	images, clouds, tracks, layout string
	debayer, dropNaN, video        bool
	join                           joinSettings
	chain                          [2]string // frames: in which, and of which; "": no chain

	// What some table has.
	matched  []bool  // of Columns
	wrong    []error // why a topic does not have one of Columns
	exploded bool    // the list of Explode
	chained  bool    // transforms
}

// besides reports whether a topic may become anything but a table.
func (s *settings) besides() bool {
	return s.images != "inline" || s.clouds != "inline" || s.tracks != "none" || s.video || s.chain[0] != ""
}

// used refuses settings that concern no table of the output.
func (s *settings) used() error {
	for i, path := range s.Columns {
		if s.matched[i] {
			continue
		}
		why := "there is no table"
		if s.wrong[i] != nil {
			why = s.wrong[i].Error()
		}
		return &storage.OptionError{Name: nameColumns, What: fmt.Sprintf("no table has a column for %q: %s", path, why),
			Hint: "bagconv defs show IN TOPIC --tree shows the fields"}
	}
	switch {
	case s.Explode != "" && !s.exploded:
		return &storage.OptionError{Name: nameExplode, What: fmt.Sprintf("no table is one of messages with a list %q",
			s.Explode), Hint: "bagconv defs show IN TOPIC --tree shows the fields"}
	case s.chain[0] != "" && !s.chained:
		return &storage.OptionError{Name: nameChain, What: "no selected topic has transforms",
			Hint: "select /tf and /tf_static, too"}
	}
	return nil
}

func settingsOf(options storage.Options, o *storage.WriteOptions) (s settings, err error) {
	if err := options.Check(o); err != nil {
		return s, err
	}
	value := func(name string) string {
		if v := o.Values[name]; v != "" || options.Find(name).Kind != storage.OptionChoice {
			return v
		}
		return options.Choices(name)[0]
	}
	s = settings{
		codec:  o.Compression,
		images: value(nameImages), clouds: value(nameClouds), tracks: value(nameTracks), layout: value(nameLayout),
		video: value(nameVideo) == "true", debayer: value(nameDebayer) == "true", dropNaN: value(nameDropNaN) == "true",
	}
	s.Options = columns.Options{
		Flat: value(nameFlat) == "true", Explode: value(nameExplode),
		Sequence: o.Sequence, StructTimes: value(nameTimes) == "struct", BinaryText: value(nameText) == "binary",
		Places: value(nameBlobs) == "placed",
	}
	if s.join, err = joinOf(value); err != nil {
		return s, err
	}
	if err := s.effective(o.Values); err != nil {
		return s, err
	}
	if v := value(nameColumns); v != "" {
		s.Columns = strings.Split(v, ",")
		s.matched, s.wrong = make([]bool, len(s.Columns)), make([]error, len(s.Columns))
	}
	if v := value(nameChain); v != "" {
		target, source, ok := strings.Cut(v, ":")
		if !ok || target == "" || source == "" {
			return s, &storage.OptionError{Name: nameChain, What: fmt.Sprintf("%q does not name two frames", v),
				Hint: "type for example map:base_link"}
		}
		s.chain = [2]string{target, source}
	}
	return s, nil
}

// effective refuses options that others leave without an effect.
func (s *settings) effective(values map[string]string) error {
	if s.join.on() {
		for _, name := range append([]string{nameExplode, nameBlobs}, besideTables...) {
			if values[name] != "" {
				return &storage.OptionError{Name: name, What: "a joined table has rows of several topics, and nothing is beside it",
					Hint: "omit it, or --" + nameResample + " and --" + nameJoin}
			}
		}
	}
	files := s.images == "files" || s.video
	switch {
	case s.debayer && !files:
		return &storage.OptionError{Name: nameDebayer, What: "no pictures are written as files",
			Hint: "add --" + nameImages + " files"}
	case s.dropNaN && (s.clouds == "inline" || s.clouds == "none"):
		return &storage.OptionError{Name: nameDropNaN, What: "no point clouds are written as files",
			Hint: "add --" + nameClouds + " pcd"}
	}
	return nil
}

// besideTables are the options of what is beside tables, which an output that is one table does not have.
var besideTables = []string{nameImages, nameDebayer, nameVideo, nameClouds, nameDropNaN, nameTracks, nameChain,
	nameLayout}

// single refuses options that an output which is one table does not have.
func (s *settings) single(values map[string]string) error {
	for _, name := range besideTables {
		if values[name] != "" {
			return &storage.OptionError{Name: name, What: "the output is one table, with nothing beside it",
				Hint: "name a folder for the output"}
		}
	}
	return nil
}

// joinOf returns the settings of a joined table.
func joinOf(value func(name string) string) (s joinSettings, err error) {
	s = joinSettings{clock: value(nameJoin), method: value(nameMethod), flat: value(nameFlat) == "true"}
	if gap := value(nameMaxGap); gap != "" {
		d, err := time.ParseDuration(gap)
		if err != nil {
			return s, err
		}
		s.maxGap = int64(d)
	}
	rate := value(nameResample)
	switch {
	case rate != "" && s.clock != "":
		return s, &storage.OptionError{Name: nameJoin, What: "the messages of a topic cannot be the clock as well as a rate",
			Hint: "omit --" + nameResample}
	case rate == "" && s.clock == "" && s.maxGap > 0:
		return s, &storage.OptionError{Name: nameMaxGap, What: "there is no joined table",
			Hint: "add --" + nameResample + " or --" + nameJoin}
	case rate == "" && s.clock == "" && s.method != "last":
		return s, &storage.OptionError{Name: nameMethod, What: "there is no joined table",
			Hint: "add --" + nameResample + " or --" + nameJoin}
	case rate == "":
		return s, nil
	}
	if s.period = periodOf(rate); s.period <= 0 {
		return s, &storage.OptionError{Name: nameResample, What: fmt.Sprintf("%q is no rate up to 1 GHz and no period", rate),
			Hint: "type for example 10Hz or 100ms"}
	}
	return s, nil
}

// periodOf returns the period of a rate or a duration in ns, 0 if it is neither.
func periodOf(text string) int64 {
	if digits, ok := strings.CutSuffix(strings.ToLower(text), "hz"); ok {
		times := 1.0
		for prefix, n := range map[string]float64{"k": 1e3, "M": 1e6, "G": 1e9} { // mHz is no MHz
			if strings.HasPrefix(text[max(len(digits)-1, 0):], prefix) {
				digits, times = digits[:len(digits)-1], n
				break
			}
		}
		hz, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if hz *= times; err != nil || !(hz >= 1e-6 && hz <= 1e9) {
			return 0
		}
		return int64(math.Round(1e9 / hz))
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return int64(d)
}
