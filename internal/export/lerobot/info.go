package lerobot

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/bagconv/bagconv/internal/export/mp4"
)

// The paths of a data set, as info.json has them for Python's str.format.
const (
	dataPath    = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
	videoPath   = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
	infoName    = "meta/info.json"
	statsName   = "meta/stats.json"
	tasksName   = "meta/tasks.parquet"
	reportName  = "meta/bagconv.json"
	codeVersion = "v3.0"
)

func dataFile(chunk, file int) string {
	return fmt.Sprintf("data/chunk-%03d/file-%03d.parquet", chunk, file)
}

func episodesFile(chunk, file int) string {
	return fmt.Sprintf("meta/episodes/chunk-%03d/file-%03d.parquet", chunk, file)
}

func videoFile(key string, chunk, file int) string {
	return fmt.Sprintf("videos/%s/chunk-%03d/file-%03d.mp4", key, chunk, file)
}

// A feature is what info.json says about a column or a video.
type feature struct {
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
	Names any    `json:"names"`
	Info  object `json:"info,omitempty"`
}

// features lists the features of a data set.
func (e *Episodes) features() (list object) {
	for _, v := range e.Vectors {
		list.set(v.Name, feature{DType: "float32", Shape: []int{len(v.Names)}, Names: v.Names})
	}
	for _, c := range e.Cameras {
		width, height := c.size()
		f := feature{DType: "video", Shape: []int{height, width, 3}, Names: []string{"height", "width", "channels"}}
		if c.Codec == "image" {
			f.DType = "image"
		} else {
			f.Info = c.info(e.FPS)
		}
		list.set(imagesPrefix+c.Name, f)
	}
	for _, name := range indexColumns {
		dtype := "int64"
		if name == "timestamp" {
			dtype = "float32"
		}
		list.set(name, feature{DType: dtype, Shape: []int{1}})
	}
	return list
}

// indexColumns are the columns that every data set has.
var indexColumns = []string{"timestamp", "frame_index", "episode_index", "index", "task_index"}

// size returns the size of the pictures in a video: encoders make odd sides one longer.
func (c *Video) size() (width, height int) {
	if c.Codec == "h264" || c.Codec == "av1" {
		return c.Width + c.Width%2, c.Height + c.Height%2
	}
	return c.Width, c.Height
}

// info describes a video.
func (c *Video) info(fps int) (o object) {
	width, height := c.size()
	pixels := "yuv420p"
	if c.Codec == "jpeg" {
		pixels = "yuvj420p"
	}
	o.set("video.height", height)
	o.set("video.width", width)
	o.set("video.codec", videoNames[codecOf(c.Codec)])
	o.set("video.pix_fmt", pixels)
	o.set("video.is_depth_map", false)
	o.set("video.fps", fps)
	o.set("video.channels", 3)
	o.set("has_audio", false)
	return o
}

// newInfo returns info.json of an empty data set.
func (e *Episodes) newInfo() (o object) {
	o.set("codebase_version", codeVersion)
	robot := any(nil)
	if e.RobotType != "" {
		robot = e.RobotType
	}
	o.set("robot_type", robot)
	o.set("total_episodes", 0)
	o.set("total_frames", 0)
	o.set("total_tasks", 0)
	o.set("chunks_size", e.ChunkFiles)
	o.set("data_files_size_in_mb", e.DataMB)
	o.set("video_files_size_in_mb", e.VideoMB)
	o.set("fps", e.FPS)
	o.set("splits", map[string]string{"train": "0:0"})
	o.set("data_path", dataPath)
	video := any(nil)
	if slices.ContainsFunc(e.Cameras, func(c Video) bool { return c.Codec != "image" }) {
		video = videoPath
	}
	o.set("video_path", video)
	o.set("features", e.features())
	return o
}

// sameFeatures returns how the features of episodes differ from the features of a data set; "":
// they do not.
func sameFeatures(have, add object) string {
	for _, m := range add {
		var a, b feature
		switch {
		case !have.get(m.key, &a):
			return "there is no " + m.key
		case json.Unmarshal(m.value, &b) != nil:
			return m.key
		case a.DType != b.DType && !(isPicture(a.DType) && isPicture(b.DType)) || !slices.Equal(a.Shape, b.Shape):
			return fmt.Sprintf("%s is %s%v, and %s%v here", m.key, a.DType, a.Shape, b.DType, b.Shape)
		case a.DType != b.DType:
			return fmt.Sprintf("%s is %s, and %s here", m.key, a.DType, b.DType)
		case !isPicture(a.DType) && len(flat(a.Names)) > 0 && !reflect.DeepEqual(flat(a.Names), flat(b.Names)):
			return fmt.Sprintf("%s has the names %v, and %v here", m.key, a.Names, b.Names)
		}
		var x, y string
		if a.Info.get("video.codec", &x) && b.Info.get("video.codec", &y) && x != y && mp4.Named(x) != mp4.Named(y) {
			return fmt.Sprintf("%s is %s, and %s here", m.key, x, y)
		}
	}
	for _, m := range have {
		if !add.get(m.key, new(any)) {
			return m.key + " is missing"
		}
	}
	return ""
}

func isPicture(dtype string) bool { return dtype == "video" || dtype == "image" }

// flat lists names that may be in a list, or in lists by group.
func flat(names any) (list []any) {
	switch n := names.(type) {
	case map[string]any:
		for _, v := range n {
			list = append(list, flat(v)...)
		}
	case []any:
		for _, v := range n {
			list = append(list, flat(v)...)
		}
	case nil:
	default:
		list = append(list, n)
	}
	return list
}
