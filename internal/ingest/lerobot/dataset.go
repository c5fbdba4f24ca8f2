package lerobot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/internal/ingest/parquet"
	"github.com/bagconv/bagconv/storage"
)

// A dataset is what describes a data set.
type dataset struct {
	fs       storage.FS
	dir      string
	info     info
	features []feature
	tasks    map[int64]string
	episodes []episode
	remarks  []storage.Warning
}

// info is info.json, as far as it is needed.
type info struct {
	Version   string             `json:"codebase_version"`
	FPS       float64            `json:"fps"`
	RobotType string             `json:"robot_type"`
	DataPath  string             `json:"data_path"`
	VideoPath string             `json:"video_path"`
	Features  map[string]feature `json:"features"`
}

// A feature is a column or a video.
type feature struct {
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
	Names any    `json:"names"`

	key   string
	names []string
}

// An episode is one of them.
type episode struct {
	index, length int64
	data          place
	row           int64 // of data, its first
	videos        map[string]span
	start         int64 // ns since 1970
}

type place struct{ chunk, file int64 }

// A span is where an episode is in a video.
type span struct {
	place
	from float64 // s
}

// indexColumns are columns that are no topics.
var indexColumns = []string{"timestamp", "frame_index", "episode_index", "index", "task_index"}

const (
	maxJSON     = 256 << 20
	maxEpisodes = 10_000_000
	maxNames    = 100_000
)

func corrupt(format string, a ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, a...), storage.ErrCorrupt)
}

func unsupported(format string, a ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, a...), storage.ErrUnsupported)
}

// openDataset reads what describes a data set.
func openDataset(fsys storage.FS, dir string) (*dataset, error) {
	d := &dataset{fs: fsys, dir: dir, tasks: map[int64]string{}}
	if err := d.readJSON("meta/info.json", &d.info); err != nil {
		return nil, err
	}
	switch {
	case d.info.Version != "v3.0":
		return nil, unsupported("a data set of version %q, and v3.0 is read; lerobot converts older ones", d.info.Version)
	case !(d.info.FPS > 0 && d.info.FPS < 1e6):
		return nil, corrupt("info.json has fps %v", d.info.FPS)
	}
	for _, key := range slices.Sorted(maps.Keys(d.info.Features)) {
		f := d.info.Features[key]
		f.key = key
		if slices.Contains(indexColumns, key) {
			continue
		}
		if f.DType == "string" {
			d.remark("feature-text", "the feature %s is text, which has no topic", key)
			continue
		}
		f.names = f.namesOf()
		d.features = append(d.features, f)
	}
	if err := d.readTasks(); err != nil {
		return nil, err
	}
	if err := d.readEpisodes(); err != nil {
		return nil, err
	}
	d.place()
	return d, nil
}

func (d *dataset) remark(code, format string, a ...any) {
	d.remarks = append(d.remarks, storage.Warning{Code: code, Message: fmt.Sprintf(format, a...), Offset: -1})
}

func (d *dataset) readJSON(name string, v any) error {
	f, err := d.fs.Open(filepath.Join(d.dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxJSON))
	if err == nil {
		if e := json.Unmarshal(text, v); e != nil {
			err = corrupt("%s: %v", name, e)
		}
	}
	return err
}

// namesOf lists the names of the numbers of a vector, by their numbers if it has no names.
func (f *feature) namesOf() (names []string) {
	n := 1
	for _, s := range f.Shape {
		if s < 0 || s > maxNames || n*s > maxNames {
			return nil
		}
		n *= s
	}
	names = flat(f.Names)
	if len(names) == n {
		return names
	}
	names = nil
	for i := range n {
		names = append(names, strconv.Itoa(i))
	}
	return names
}

// flat lists names that may be in lists by group.
func flat(names any) (list []string) {
	switch n := names.(type) {
	case string:
		list = append(list, n)
	case []any:
		for _, v := range n {
			list = append(list, flat(v)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(n)) {
			list = append(list, flat(n[key])...)
		}
	}
	return list
}

// A table is a file of Parquet that is open.
type table struct {
	*parquet.File
	file storage.File
	name string
}

func (d *dataset) openTable(name string) (*table, error) {
	f, err := d.fs.Open(filepath.Join(d.dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil {
		var p *parquet.File
		if p, err = parquet.Open(f, st.Size()); err == nil {
			return &table{p, f, name}, nil
		}
		err = fmt.Errorf("%s: %w", name, err)
	}
	return nil, errors.Join(err, f.Close())
}

// numbers calls row with the only number of each row of some columns.
func (t *table) numbers(columns []string, row func(values []float64) error) error {
	var list []*parquet.Rows
	for _, name := range columns {
		rows, err := t.Rows(name)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		list = append(list, rows)
	}
	values := make([]float64, len(columns))
	for {
		for i, rows := range list {
			if !rows.Next() {
				if err := rows.Err(); err != nil {
					return fmt.Errorf("%s: %w", t.name, err)
				}
				return nil
			}
			if len(rows.Floats()) != 1 {
				return corrupt("%s: %s has %d numbers in a row", t.name, columns[i], len(rows.Floats()))
			}
			values[i] = rows.Floats()[0]
		}
		if err := row(values); err != nil {
			return err
		}
	}
}

// readTasks reads the texts of tasks, which are the index of a table of pandas.
func (d *dataset) readTasks() error {
	t, err := d.openTable("meta/tasks.parquet")
	if err != nil {
		return err
	}
	defer t.file.Close()
	column := "task"
	if !t.Has(column) {
		column = "__index_level_0__"
	}
	texts, err := t.Rows(column)
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	return t.numbers([]string{"task_index"}, func(v []float64) error {
		if !texts.Next() || len(texts.Bytes()) != 1 {
			return corrupt("%s: a task without a text", t.name)
		}
		d.tasks[int64(v[0])] = string(texts.Bytes()[0])
		return nil
	})
}

// readEpisodes reads where all episodes are.
func (d *dataset) readEpisodes() error {
	var names []string
	root := filepath.Join(d.dir, "meta", "episodes")
	chunks, err := d.fs.ReadDir(root)
	if err != nil {
		return err
	}
	for _, c := range chunks {
		if !c.IsDir() {
			continue
		}
		files, err := d.fs.ReadDir(filepath.Join(root, c.Name()))
		if err != nil {
			return err
		}
		for _, f := range files {
			if strings.HasSuffix(f.Name(), ".parquet") {
				names = append(names, "meta/episodes/"+c.Name()+"/"+f.Name())
			}
		}
	}
	for _, name := range names {
		if err := d.readEpisodeFile(name); err != nil {
			return err
		}
	}
	slices.SortStableFunc(d.episodes, func(a, b episode) int { return int(a.index - b.index) })
	rows := map[place]int64{}
	for i := range d.episodes {
		e := &d.episodes[i]
		e.row = rows[e.data]
		rows[e.data] += e.length
	}
	return nil
}

func (d *dataset) readEpisodeFile(name string) error {
	t, err := d.openTable(name)
	if err != nil {
		return err
	}
	defer t.file.Close()
	columns := []string{"episode_index", "length", "data/chunk_index", "data/file_index"}
	for _, f := range d.features {
		if f.DType == "video" {
			p := "videos/" + f.key + "/"
			columns = append(columns, p+"chunk_index", p+"file_index", p+"from_timestamp")
		}
	}
	return t.numbers(columns, func(v []float64) error {
		for _, x := range v {
			if !(x >= 0 && x < 1e15) {
				return corrupt("%s: an episode with the number %v", name, x)
			}
		}
		if len(d.episodes) == maxEpisodes {
			return unsupported("more than %d episodes", maxEpisodes)
		}
		e := episode{index: int64(v[0]), length: int64(v[1]), data: place{int64(v[2]), int64(v[3])},
			videos: map[string]span{}}
		v = v[4:]
		for _, f := range d.features {
			if f.DType == "video" {
				e.videos[f.key] = span{place{int64(v[0]), int64(v[1])}, v[2]}
				v = v[3:]
			}
		}
		d.episodes = append(d.episodes, e)
		return nil
	})
}

// between is the time between two episodes whose time nobody knows, ns.
const between = 10_000_000_000

// place gives episodes their times: the times of the report, if the episodes do not overlap by it.
func (d *dataset) place() {
	var report struct {
		Episodes []struct {
			Index   int64 `json:"episode_index"`
			StartNS int64 `json:"start_ns,string"`
		} `json:"episodes"`
	}
	starts := map[int64]int64{}
	if d.readJSON("meta/bagconv.json", &report) == nil {
		for _, e := range report.Episodes {
			starts[e.Index] = e.StartNS
		}
	}
	known := len(d.episodes) > 0
	byTime := slices.Clone(d.episodes)
	for i := range byTime {
		start, ok := starts[byTime[i].index]
		known = known && ok && start >= 0
		byTime[i].start = start
	}
	slices.SortStableFunc(byTime, func(a, b episode) int {
		if a.start < b.start {
			return -1
		}
		return 1
	})
	end := int64(-1)
	for _, e := range byTime {
		known = known && e.start > end && e.start < 1<<62
		end = e.start + d.duration(e.length)
	}
	if known {
		d.episodes = byTime
		return
	}
	if len(starts) > 0 {
		d.remark("times-overlap",
			"by their report episodes are at the same time or without a time: they follow each other from 1970 on")
	}
	next := int64(1_000_000_000)
	for i := range d.episodes {
		d.episodes[i].start = next
		next += d.duration(d.episodes[i].length) + between
	}
}

// duration returns how long frames are, ns.
func (d *dataset) duration(frames int64) int64 {
	return int64(min(float64(frames)/d.info.FPS*1e9, 1e18))
}

// pathOf fills in the places of Python's format of a path.
func pathOf(format, key string, at place) (string, error) {
	out := strings.NewReplacer("{chunk_index:03d}", fmt.Sprintf("%03d", at.chunk), "{file_index:03d}", fmt.Sprintf("%03d",
		at.file),
		"{video_key}", key).Replace(format)
	if strings.ContainsAny(out, "{}") || !filepath.IsLocal(filepath.FromSlash(out)) {
		return "", unsupported("the path %q of info.json", format)
	}
	return out, nil
}
