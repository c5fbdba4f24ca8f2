package lerobot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// Episodes are the episodes of one recording, as a folder: what a data set is made of. The folder
// has
//
//	episodes.json         this
//	000000.rows           for each row the numbers of all vectors, float32, little endian
//	000000.front.frames   the frames of a camera: see take
//	000001.rows ...
type Episodes struct {
	SchemaVersion int       `json:"schema_version"`
	FPS           int       `json:"fps"`
	RobotType     string    `json:"robot_type,omitempty"`
	Vectors       []Vector  `json:"vectors"`
	Cameras       []Video   `json:"cameras"`
	DataMB        int       `json:"data_files_size_in_mb"`
	VideoMB       int       `json:"video_files_size_in_mb"`
	ChunkFiles    int       `json:"chunks_size"`
	Episodes      []Episode `json:"episodes"`
}

// A Vector is a feature of numbers.
type Vector struct {
	Name  string   `json:"name"`
	Names []string `json:"names"` // of its numbers
}

// A Video is a feature of pictures.
type Video struct {
	Name   string `json:"name"`  // of the camera
	Codec  string `json:"codec"` // see camera
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

// An Episode is one of them. A report of a data set has it, too.
type Episode struct {
	Index   int              `json:"episode_index"` // in the data set
	Source  string           `json:"source,omitempty"`
	Frames  int64            `json:"frames"`
	Task    string           `json:"task"`
	StartNS int64            `json:"start_ns,string"` // log time of its first frame, since 1970
	End     string           `json:"end"`             // why it ends: "file", "gap", "topic", "value", "gap in /topic"
	Streams []StreamReport   `json:"streams"`
	Stats   map[string]Stats `json:"stats,omitempty"`
	Copied  []string         `json:"copied,omitempty"` // cameras whose frames are copied from the recording
}

// A StreamReport says how a topic goes with the rate.
type StreamReport struct {
	Topic     string  `json:"topic"`
	Messages  int64   `json:"messages"`         // in the episode
	Repeated  int64   `json:"repeated"`         // frames with the message of the frame before
	Skipped   int64   `json:"skipped"`          // messages that no frame has
	DelayMS   float64 `json:"delay_ms"`         // between a frame and its message, on the average
	LongestMS float64 `json:"longest_delay_ms"` // of all frames
}

// episodesName is the file that describes Episodes.
const episodesName = "episodes.json"

func rowsFile(dir string, episode int) string {
	return filepath.Join(dir, fmt.Sprintf("%06d.rows", episode))
}

func framesFile(dir string, episode int, camera string) string {
	return filepath.Join(dir, fmt.Sprintf("%06d.%s.frames", episode, camera))
}

// width returns how many numbers a row has.
func (e *Episodes) width() (n int) {
	for _, v := range e.Vectors {
		n += len(v.Names)
	}
	return n
}

func createFile(fsys storage.FS, path string) (storage.File, error) {
	return iox.FS(fsys).OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// writeJSON writes a file of JSON.
func writeJSON(fsys storage.FS, path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	f, err := createFile(fsys, path)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, syncClose(f))
}

// maxJSON is how long a file of JSON may be that is read.
const maxJSON = 1 << 30

// readJSON reads a file of JSON.
func readJSON(fsys storage.FS, path string, v any) error {
	f, err := iox.FS(fsys).Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxJSON))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w: %w", path, storage.ErrCorrupt, err)
	}
	return nil
}

// readEpisodes reads the description of a folder of Episodes.
func readEpisodes(fsys storage.FS, dir string) (*Episodes, error) {
	var e Episodes
	if err := readJSON(fsys, filepath.Join(dir, episodesName), &e); err != nil {
		return nil, err
	}
	if e.SchemaVersion != 1 || e.FPS <= 0 {
		return nil, fmt.Errorf("%s: %w: not episodes of this version of bagconv", dir, storage.ErrUnsupported)
	}
	return &e, nil
}
