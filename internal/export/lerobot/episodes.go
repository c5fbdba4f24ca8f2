package lerobot

import (
	"github.com/bagconv/bagconv/internal/export/columns"
)

// An episodesTable is a file of meta/episodes.
type episodesTable struct {
	a        *assembly
	at       place
	file     *tableFile
	videos   []string
	features []string
	pictures []bool // of features
}

// An episodeRow is where an episode is, and its Stats.
type episodeRow struct {
	episode int
	task    string
	frames  int64
	from    int64 // index of its first frame
	data    place
	videos  map[string]videoSpan
	stats   map[string]Stats
}

func column(name string, kind columns.Kind) columns.Field {
	return columns.Field{Name: name, Kind: kind}
}

// open begins the file.
func (t *episodesTable) open(at place) (err error) {
	t.at = at
	var features object
	t.a.info.get("features", &features)
	list := []columns.Field{
		column("episode_index", columns.Int64), listOf("tasks", columns.Field{Kind: columns.Text}),
		column("length", columns.Int64), column("data/chunk_index", columns.Int64), column("data/file_index", columns.Int64),
		column("dataset_from_index", columns.Int64), column("dataset_to_index", columns.Int64),
	}
	for _, m := range features {
		var f feature
		features.get(m.key, &f)
		if f.DType == "video" {
			t.videos = append(t.videos, m.key)
			p := "videos/" + m.key + "/"
			list = append(list, column(p+"chunk_index", columns.Int64), column(p+"file_index", columns.Int64),
				column(p+"from_timestamp", columns.Float64), column(p+"to_timestamp", columns.Float64))
		}
	}
	for _, m := range features {
		picture := isPictureOf(features, m.key)
		t.features, t.pictures = append(t.features, m.key), append(t.pictures, picture)
		for _, name := range statNames {
			element := columns.Field{Kind: columns.Float64}
			if picture {
				element = listOf("", listOf("", element))
			}
			list = append(list, listOf("stats/"+m.key+"/"+name, element))
		}
		list = append(list, listOf("stats/"+m.key+"/count", columns.Field{Kind: columns.Int64}))
	}
	list = append(list, column("meta/episodes/chunk_index", columns.Int64),
		column("meta/episodes/file_index", columns.Int64))
	t.file, err = t.a.openTable(episodesFile(at.chunk, at.file), list, nil)
	return err
}

// add adds an episode.
func (t *episodesTable) add(e *episodeRow) error {
	top := t.file.batch.Top()
	next := func() *columns.Column {
		c := top[0]
		top = top[1:]
		return c
	}
	putInt(next(), int64(e.episode))
	tasks := next()
	putText(tasks.Children[0], e.task)
	endList(tasks)
	for _, v := range []int64{e.frames, int64(e.data.chunk), int64(e.data.file), e.from, e.from + e.frames} {
		putInt(next(), v)
	}
	for _, key := range t.videos {
		span := e.videos[key]
		putInt(next(), int64(span.chunk))
		putInt(next(), int64(span.file))
		putFloat64(next(), span.from)
		putFloat64(next(), span.to)
	}
	for i, name := range t.features {
		s := e.stats[name]
		for _, p := range s.numbers() {
			putStat(next(), *p, t.pictures[i])
		}
		count := next()
		for _, n := range s.Count {
			putInt(count.Children[0], n)
		}
		endList(count)
	}
	putInt(next(), int64(t.at.chunk))
	putInt(next(), int64(t.at.file))
	t.file.batch.AddRow()
	if t.file.batch.Len() == 1024 {
		return t.file.flush()
	}
	return nil
}

// putStat puts a statistic: of pictures in the shape (3, 1, 1).
func putStat(c *columns.Column, values []float64, picture bool) {
	for _, v := range values {
		if !picture {
			putFloat64(c.Children[0], v)
			continue
		}
		row := c.Children[0]
		putFloat64(row.Children[0].Children[0], v)
		endList(row.Children[0])
		endList(row)
	}
	endList(c)
}

func (t *episodesTable) close() error {
	if t.file == nil {
		return nil
	}
	f := t.file
	t.file = nil
	return f.close()
}

func (t *episodesTable) abort() error {
	if t.file == nil {
		return nil
	}
	return t.file.file.Close()
}
