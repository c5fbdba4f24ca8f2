package lerobot

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/bagconv/bagconv/internal/ingest/parquet"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A dataset is one that episodes are added to.
type dataset struct {
	info     object
	tasks    []string
	episodes int
	frames   int64
	stats    map[string]Stats
	report   []Episode

	data, meta place // of the first new files
	videos     map[string]place
}

// openDataset reads what describes a data set.
func openDataset(fsys storage.FS, path string) (*dataset, error) {
	d := &dataset{stats: map[string]Stats{}, videos: map[string]place{}}
	if err := readJSON(fsys, filepath.Join(path, filepath.FromSlash(infoName)), &d.info); err != nil {
		return nil, err
	}
	fail := func(format string, a ...any) (*dataset, error) {
		return nil, fmt.Errorf("%s: %s: %w", path, fmt.Sprintf(format, a...), storage.ErrUnsupported)
	}
	var version string
	if d.info.get("codebase_version", &version); version != codeVersion {
		return fail("a data set of version %q, and %s can be added to", version, codeVersion)
	}
	var data, video string
	if d.info.get("data_path", &data); data != dataPath {
		return fail("its data_path is %q, and not %s", data, dataPath)
	}
	if d.info.get("video_path", &video); video != "" && video != videoPath {
		return fail("its video_path is %q, and not %s", video, videoPath)
	}
	if !d.info.get("total_episodes", &d.episodes) || !d.info.get("total_frames", &d.frames) || d.episodes < 0 ||
		d.frames < 0 {
		return fail("info.json does not say how many episodes and frames it has")
	}
	var err error
	if d.tasks, err = readTasks(fsys, filepath.Join(path, filepath.FromSlash(tasksName))); err != nil {
		return nil, err
	}
	if err := d.readStats(fsys, path); err != nil {
		return nil, err
	}
	if r, err := ReadReport(fsys, path); err == nil {
		d.report = r.Episodes
	}
	return d, d.places(fsys, path)
}

// readStats reads stats.json. Without it, and without the Stats of a feature, the new data set has
// no Stats of it.
func (d *dataset) readStats(fsys storage.FS, path string) error {
	var list object
	name := filepath.Join(path, filepath.FromSlash(statsName))
	if !exists(fsys, name) {
		return nil
	}
	if err := readJSON(fsys, name, &list); err != nil {
		return err
	}
	for _, m := range list {
		var raw map[string]any
		if !list.get(m.key, &raw) {
			return fmt.Errorf("%s: %s: %w", name, m.key, storage.ErrCorrupt)
		}
		s := Stats{Count: []int64{1}}
		for i, p := range s.numbers() {
			*p = flatNumbers(raw[statNames[i]])
		}
		if count := flatNumbers(raw["count"]); len(count) > 0 {
			s.Count[0] = int64(count[0])
		}
		whole := len(s.Mean) > 0
		for _, p := range s.numbers() {
			if len(*p) == 0 && whole { // an older set has no quantiles
				*p = append([]float64(nil), s.Mean...)
			}
			whole = whole && len(*p) == len(s.Mean)
		}
		if !whole {
			return fmt.Errorf("%s: %s: %w", name, m.key, storage.ErrCorrupt)
		}
		d.stats[m.key] = s
	}
	return nil
}

// flatNumbers lists the numbers of lists of any depth.
func flatNumbers(v any) (list []float64) {
	switch v := v.(type) {
	case float64:
		return []float64{v}
	case []any:
		for _, x := range v {
			list = append(list, flatNumbers(x)...)
		}
	}
	return list
}

// places finds where the new files will be.
func (d *dataset) places(fsys storage.FS, path string) (err error) {
	var features object
	chunkFiles := defaultChunkFiles
	d.info.get("features", &features)
	d.info.get("chunks_size", &chunkFiles)
	if d.data, err = lastPlace(fsys, filepath.Join(path, "data"), chunkFiles); err != nil {
		return err
	}
	if d.meta, err = lastPlace(fsys, filepath.Join(path, "meta", "episodes"), chunkFiles); err != nil {
		return err
	}
	for _, m := range features {
		var f feature
		if !features.get(m.key, &f) || f.DType != "video" {
			continue
		}
		if d.videos[m.key], err = lastPlace(fsys, filepath.Join(path, "videos", m.key), chunkFiles); err != nil {
			return err
		}
	}
	return nil
}

// readTasks reads tasks.parquet: the texts by their index. They are the index of a table of pandas, whose name differs.
func readTasks(fsys storage.FS, name string) ([]string, error) {
	f, err := iox.FS(fsys).Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	p, err := parquet.Open(f, st.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	column := "task"
	if !p.Has(column) {
		column = "__index_level_0__"
	}
	texts, err := p.Rows(column)
	if err == nil {
		var numbers *parquet.Rows
		if numbers, err = p.Rows("task_index"); err == nil {
			return taskTexts(name, texts, numbers)
		}
	}
	return nil, fmt.Errorf("%s: %w", name, err)
}

// taskTexts returns the texts in the order of their numbers, which are 0, 1 and so on.
func taskTexts(name string, texts, numbers *parquet.Rows) ([]string, error) {
	byIndex := map[int64]string{}
	for texts.Next() && numbers.Next() {
		if len(texts.Bytes()) != 1 || len(numbers.Ints()) != 1 {
			return nil, fmt.Errorf("%s: a task without a text or a number: %w", name, storage.ErrCorrupt)
		}
		byIndex[numbers.Ints()[0]] = string(texts.Bytes()[0])
	}
	if err := errors.Join(texts.Err(), numbers.Err()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	list := make([]string, 0, len(byIndex))
	for i := range int64(len(byIndex)) {
		text, ok := byIndex[i]
		if !ok {
			return nil, fmt.Errorf("%s: there is no task %d of %d: %w", name, i, len(byIndex), storage.ErrCorrupt)
		}
		list = append(list, text)
	}
	return list, nil
}
