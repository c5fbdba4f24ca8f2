package lerobot

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/internal/export/mp4"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A Part is a folder of Episodes.
type Part struct {
	Dir    string
	Source string // what the report calls their recording
}

// An assembly makes a data set of Episodes, or adds them to one:
//
//	data/chunk-000/file-000.parquet            the rows of several episodes
//	videos/observation.images.front/chunk-000/file-000.mp4
//	meta/episodes/chunk-000/file-000.parquet   a row for each episode: where it is, and its Stats
//	meta/tasks.parquet meta/stats.json meta/info.json meta/bagconv.json
//
// Episodes follow each other in the order of the parts. A file that would become larger than its limit is followed by
// the next, before an episode. Files of a data set that is added to stay as they are.
type assembly struct {
	ctx  context.Context
	fs   storage.FS // of the data set
	from storage.FS // of the parts
	dir  string     // of the data set
	base *dataset   // that is added to; nil: a new one

	set      *Episodes // of the first part: features and limits
	info     object
	tasks    []string
	episode  int
	index    int64 // of the next row
	data     *rowsTable
	videos   map[string]*videoOut
	episodes *episodesTable
	stats    map[string][]Stats
	report   []Episode
}

// A place is a file of a kind.
type place struct{ chunk, file int }

// next returns the place after another.
func (p place) next(chunkFiles int) place {
	if p.file+1 >= chunkFiles {
		return place{p.chunk + 1, 0}
	}
	return place{p.chunk, p.file + 1}
}

// make makes the data set.
func (a *assembly) make(parts []Part) (err error) {
	a.stats, a.videos = map[string][]Stats{}, map[string]*videoOut{}
	if a.base != nil {
		a.begin()
	}
	for _, p := range parts {
		if err := a.add(p); err != nil {
			return errors.Join(err, a.abort())
		}
	}
	if a.set == nil {
		return errors.New("there is no episode")
	}
	if err := a.finish(); err != nil {
		return errors.Join(err, a.abort())
	}
	return nil
}

// begin goes on where a data set ends.
func (a *assembly) begin() {
	b := a.base
	a.info, a.tasks, a.episode, a.index, a.report = b.info, b.tasks, b.episodes, b.frames, b.report
	for name, s := range b.stats {
		a.stats[name] = []Stats{s}
	}
}

// add adds the episodes of a part.
func (a *assembly) add(p Part) error {
	set, err := readEpisodes(a.from, p.Dir)
	if err != nil {
		return err
	}
	if err := a.take(set, p); err != nil {
		return err
	}
	for i := range set.Episodes {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		if err := a.addEpisode(set, p, i); err != nil {
			return fmt.Errorf("episode %d of %s: %w", i, p.name(), err)
		}
	}
	return nil
}

func (p *Part) name() string {
	if p.Source != "" {
		return p.Source
	}
	return filepath.Base(p.Dir)
}

// take checks that a part goes with the others.
func (a *assembly) take(set *Episodes, p Part) error {
	if a.info == nil {
		a.info = set.newInfo()
	}
	first := a.set == nil
	if first {
		a.set = set
	}
	var fps int
	a.info.get("fps", &fps)
	var have object
	a.info.get("features", &have)
	what := sameFeatures(have, set.features())
	if fps != set.FPS {
		what = fmt.Sprintf("fps is %d, and %d here", fps, set.FPS)
	}
	if what != "" {
		return fmt.Errorf("the episodes of %s do not go with the data set: %s: %w", p.name(), what, storage.ErrUnsupported)
	}
	if !first {
		return nil
	}
	if a.base != nil {
		a.limits()
	}
	a.data = &rowsTable{a: a}
	a.episodes = &episodesTable{a: a}
	var at place
	if a.base != nil {
		a.data.at, at = a.base.data, a.base.meta
	}
	return a.episodes.open(at)
}

// limits takes the limits of the data set that is added to.
func (a *assembly) limits() {
	a.info.get("data_files_size_in_mb", &a.set.DataMB)
	a.info.get("video_files_size_in_mb", &a.set.VideoMB)
	a.info.get("chunks_size", &a.set.ChunkFiles)
	a.set.DataMB, a.set.VideoMB, a.set.ChunkFiles = max(1, a.set.DataMB), max(1, a.set.VideoMB), max(1, a.set.ChunkFiles)
}

// addEpisode adds an episode of a part.
func (a *assembly) addEpisode(set *Episodes, p Part, i int) error {
	e := set.Episodes[i]
	row := episodeRow{episode: a.episode, task: e.Task, frames: e.Frames, from: a.index, videos: map[string]videoSpan{}}
	task := slices.Index(a.tasks, e.Task)
	if task < 0 {
		task = len(a.tasks)
		a.tasks = append(a.tasks, e.Task)
	}
	for k := range set.Cameras {
		c := &set.Cameras[k]
		if c.Codec == "image" {
			continue
		}
		span, err := a.addVideo(c, framesFile(p.Dir, i, c.Name), &e)
		if err != nil {
			return fmt.Errorf("the camera %s: %w", c.Name, err)
		}
		row.videos[imagesPrefix+c.Name] = span
	}
	var err error
	if row.data, err = a.data.add(set, p.Dir, i, e.Frames, task); err != nil {
		return err
	}
	row.stats = a.statsOf(&e, task)
	for name, s := range row.stats {
		a.stats[name] = append(a.stats[name], s)
	}
	if err := a.episodes.add(&row); err != nil {
		return err
	}
	e.Index, e.Source, e.Stats = a.episode, p.name(), nil
	if p.Source == "" {
		e.Source = ""
	}
	a.report = append(a.report, e)
	a.episode++
	a.index += e.Frames
	return nil
}

// statsOf returns the Stats of an episode, with the columns that every data set has.
func (a *assembly) statsOf(e *Episode, task int) map[string]Stats {
	out := map[string]Stats{}
	for name, s := range e.Stats {
		out[name] = s
	}
	n := e.Frames
	out["timestamp"] = series(0, 1/float64(a.set.FPS), n)
	out["frame_index"] = series(0, 1, n)
	out["episode_index"] = series(float64(a.episode), 0, n)
	out["index"] = series(float64(a.index), 1, n)
	out["task_index"] = series(float64(task), 0, n)
	return out
}

// A videoOut is the video of a camera that grows.
type videoOut struct {
	at     place
	file   storage.File
	out    *bufio.Writer
	w      *mp4.Writer
	frames int64
	size   int64
	copied bool // its frames are copied from a recording
}

// A videoSpan is where an episode is in a video.
type videoSpan struct {
	place
	from, to float64 // s
}

// addVideo adds the frames of an episode to the video of a camera.
func (a *assembly) addVideo(c *Video, name string, e *Episode) (span videoSpan, err error) {
	key := imagesPrefix + c.Name
	copied := slices.Contains(e.Copied, c.Name)
	st, err := a.from.Stat(name)
	if err != nil {
		return span, err
	}
	v := a.videos[key]
	if v == nil {
		v = &videoOut{}
		if a.base != nil {
			v.at = a.base.videos[key]
		}
		a.videos[key] = v
	} else if v.frames > 0 && (v.size+st.Size() > int64(a.set.VideoMB)<<20 || copied || v.copied) {
		if err := v.close(); err != nil {
			return span, err
		}
		v.at = v.at.next(a.set.ChunkFiles)
	}
	if v.w == nil {
		if err := a.openVideo(v, key, codecOf(c.Codec)); err != nil {
			return span, err
		}
	}
	v.copied = copied
	span = videoSpan{v.at, float64(v.frames) / float64(a.set.FPS), float64(v.frames+e.Frames) / float64(a.set.FPS)}
	got := int64(0)
	err = eachFrame(a.from, name, func(data []byte) error {
		got++
		k := v.frames + got - 1
		return v.w.Frame(data, k*1_000_000_000/int64(a.set.FPS))
	})
	if err == nil && got != e.Frames {
		err = fmt.Errorf("%w: %d frames of %d", storage.ErrTruncated, got, e.Frames)
	}
	v.frames, v.size = v.frames+got, v.size+st.Size()
	return span, err
}

// openVideo begins a video.
func (a *assembly) openVideo(v *videoOut, key string, codec mp4.Codec) (err error) {
	if v.file, err = a.create(videoFile(key, v.at.chunk, v.at.file)); err != nil {
		return err
	}
	v.out = bufio.NewWriterSize(v.file, 1<<18)
	if v.w, err = mp4.NewWriter(v.out, codec); err != nil {
		return err
	}
	v.frames, v.size = 0, 0
	return v.w.SetRate(a.set.FPS)
}

// close ends a video.
func (v *videoOut) close() error {
	sum, err := v.w.Close()
	if err == nil && int64(sum.Frames) != v.frames {
		err = fmt.Errorf("%w: the video has %d frames, and %d were written", storage.ErrCorrupt, sum.Frames, v.frames)
	}
	if e := v.out.Flush(); err == nil {
		err = e
	}
	err = errors.Join(err, syncClose(v.file))
	v.w, v.file = nil, nil
	return err
}

func syncClose(f storage.File) error { return errors.Join(iox.Sync(f), f.Close()) }

// eachFrame calls do with each frame of a take.
func eachFrame(fsys storage.FS, name string, do func([]byte) error) error {
	f, err := iox.FS(fsys).Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<18)
	var data []byte
	for {
		var head [4]byte
		if _, err := io.ReadFull(r, head[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w: %w", name, storage.ErrTruncated, err)
		}
		if data, err = readExactly(r, data[:0], int(binary.LittleEndian.Uint32(head[:]))); err != nil {
			return fmt.Errorf("%s: %w: %w", name, storage.ErrTruncated, err)
		}
		if err := do(data); err != nil {
			return err
		}
	}
}

// readExactly reads n bytes; memory grows with what is there.
func readExactly(r io.Reader, dst []byte, n int) ([]byte, error) {
	for len(dst) < n {
		step := min(n-len(dst), 1<<20)
		from := len(dst)
		dst = slices.Grow(dst, step)[:from+step]
		if _, err := io.ReadFull(r, dst[from:]); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// create makes a file of the data set, and the folders around it.
func (a *assembly) create(name string) (storage.File, error) {
	dir := a.dir
	folders := append([]string{""}, splitPath(path.Dir(name))...)
	for _, folder := range folders {
		dir = filepath.Join(dir, folder)
		if _, err := a.fs.Stat(dir); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err := a.fs.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return createFile(a.fs, filepath.Join(a.dir, filepath.FromSlash(name)))
}

func splitPath(dir string) []string {
	if dir == "." {
		return nil
	}
	return append(splitPath(path.Dir(dir)), path.Base(dir))
}

// finish writes what describes the data set.
func (a *assembly) finish() error {
	for _, key := range sortedKeys(a.videos) {
		if v := a.videos[key]; v.w != nil {
			if err := v.close(); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(a.data.close(), a.episodes.close()); err != nil {
		return err
	}
	if err := a.writeTasks(); err != nil {
		return err
	}
	if err := a.writeStats(); err != nil {
		return err
	}
	report := Report{SchemaVersion: 1, Notes: summarize(a.report, a.set.FPS), Episodes: a.report}
	if err := a.writeJSON(reportName, &report); err != nil {
		return err
	}
	a.info.set("total_episodes", a.episode)
	a.info.set("total_frames", a.index)
	a.info.set("total_tasks", len(a.tasks))
	a.info.set("splits", map[string]string{"train": fmt.Sprintf("0:%d", a.episode)})
	return a.writeJSON(infoName, a.info)
}

func (a *assembly) writeJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	f, err := a.create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, syncClose(f))
}

// writeStats writes the Stats of all features, in the order of info.json.
func (a *assembly) writeStats() error {
	var features, out object
	a.info.get("features", &features)
	for _, m := range features {
		list := a.stats[m.key]
		if len(list) == 0 {
			continue
		}
		s := sum(list)
		out.set(m.key, shaped(&s, isPictureOf(features, m.key)))
	}
	return a.writeJSON(statsName, out)
}

func isPictureOf(features object, name string) bool {
	var f feature
	return features.get(name, &f) && isPicture(f.DType)
}

// shaped returns Stats as stats.json has them: of pictures in the shape (3, 1, 1).
func shaped(s *Stats, picture bool) (o object) {
	for i, p := range s.numbers() {
		if statNames[i] == "q01" {
			o.set("count", s.Count)
		}
		if !picture {
			o.set(statNames[i], *p)
			continue
		}
		channels := [][][]float64{}
		for _, v := range *p {
			channels = append(channels, [][]float64{{v}})
		}
		o.set(statNames[i], channels)
	}
	return o
}

// abort closes all files.
func (a *assembly) abort() (err error) {
	for _, v := range a.videos {
		if v.file != nil {
			err = errors.Join(err, v.file.Close())
		}
	}
	if a.data != nil {
		err = errors.Join(err, a.data.abort())
	}
	if a.episodes != nil {
		err = errors.Join(err, a.episodes.abort())
	}
	return err
}

// secondsOf returns the time of a frame in its episode, as lerobot has it.
func secondsOf(frame int64, fps int) uint32 {
	return math.Float32bits(float32(float64(frame) / float64(fps)))
}
