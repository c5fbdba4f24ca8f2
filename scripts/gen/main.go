// Command gen makes ROS 1 bags and Apollo records of any size for tests and
// benchmarks, with bagconv's own writers. The same flags make the same bytes.
//
//	go run ./scripts/gen -mb 1500 big.bag                       two cameras, a lidar and small messages
//	go run ./scripts/gen -mb 340 -profile small small.bag       small messages only
//	go run ./scripts/gen -mb 1000 -compression lz4 lz4.bag
//	go run ./scripts/gen -profile demo testdata/demo.bag        a second of everything, in small
//	go run ./scripts/gen -profile drive drive.bag               a minute through a town, for pictures of reports
//	go run ./scripts/gen -profile tiny testdata/tiny.bag        a few small messages
//	go run ./scripts/gen -mb 1000 big.record                    the same for Apollo, by the file's name
//	go run ./scripts/gen -profile uniform -size 10000 u.bag     messages of one size, on -topics topics
//	go run ./scripts/gen -mb 10000 -sparse huge.bag             10 GB that take 150 MB of the disk, in seconds
//
// Streams and rates of the profile "mixed": camera 1920x1080 rgb8 at 5 Hz,
// camera 1920x1200 mono8 at 10 Hz, lidar of 131,072 points at 10 Hz, IMU 400 Hz,
// tf 100 Hz, odometry 50 Hz, a type of no standard package 50 Hz, NavSatFix 10 Hz,
// and a latched /tf_static. In a record: camera 1920x1080 rgb8 at 5 Hz, another one
// compressed at 10 Hz, lidar of 120,320 points at 10 Hz, IMU 200 Hz, corrected IMU,
// pose, chassis and tf 100 Hz, GNSS and odometry 10 Hz, /tf_static. Pixels and points are smooth plus noise, so that
// compression behaves as on recordings of real sensors.
//
// With -sparse they are zeros, and those zeros are holes in the file. A record then
// has another camera in the place of the lidar, whose points are not zeros. For
// rosbag2 the bag is converted (bagconv huge.bag huge/); a database has a number in
// each of its pages, so it has no holes.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bagconv/bagconv/formats/cyber"
	"github.com/bagconv/bagconv/formats/rosbag1"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

func main() {
	mb := flag.Int64("mb", 100, "size of the messages in MB")
	profile := flag.String("profile", "mixed", "mixed, small, uniform, demo, drive or tiny")
	size := flag.Int("size", 100, "bytes of a message of the profile uniform")
	topics := flag.Int("topics", 1, "topics of the profile uniform")
	compression := flag.String("compression", "none", "none, lz4 or bz2")
	chunk := flag.Int64("chunk-kb", 0, "chunk size in KiB; 0 is the format's own")
	seed := flag.Uint64("seed", 1, "for the noise")
	sparse := flag.Bool("sparse", false,
		"pixels, points and the bytes of the profile uniform are zeros that take no place on the disk")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: gen [flags] OUT.bag|OUT.record")
		flag.PrintDefaults()
		os.Exit(2)
	}
	o := storage.WriteOptions{Compression: *compression, ChunkSize: *chunk << 10, Overwrite: true, NoSync: true}
	if *sparse {
		o.FS = iox.Sparse(nil)
	}
	if err := generate(flag.Arg(0), kind{*profile, *size, *topics, *sparse}, *mb*1_000_000, *seed, o); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// start is the log time of the first message, ns since 1970: 2023-11-14.
const start = 1_700_000_000_000_000_000

// length is the length of the profiles that have one, in ns.
var length = map[string]int64{"demo": 1_000_000_000, "drive": 60_000_000_000, "tiny": 30_000_000}

// A kind is what is asked for.
type kind struct {
	profile      string
	size, topics int  // of the profile uniform
	sparse       bool // large messages are zeros
}

// generate writes messages until they have the given number of bytes together,
// or until the profile's own end.
func generate(path string, k kind, bytes int64, seed uint64, o storage.WriteOptions) error {
	format := rosbag1.Format
	apollo := filepath.Ext(path) == ".record"
	if apollo {
		format = cyber.Format
	}
	rig, err := newRig(k, apollo, seed)
	if err != nil {
		return err
	}
	w, err := format.Create(context.Background(), path, o)
	if err != nil {
		return err
	}
	for _, s := range rig.streams {
		if s.id, err = w.CreateTopic(s.topic); err != nil {
			return err
		}
	}
	var written int64
	for {
		s := rig.next()
		end, short := length[k.profile]
		if short && s.due >= start+end || !short && written >= bytes {
			break
		}
		if s.due >= s.quiet[0] && s.due < s.quiet[1] {
			s.due += s.period
			continue
		}
		m := storage.Message{Topic: s.id, LogTime: s.due + int64(rig.rng.Uint32N(200_000)), Data: s.message(rig, s)}
		m.PublishTime = m.LogTime
		if err := w.Write(&m); err != nil {
			return err
		}
		written += int64(max(len(m.Data), 1)) // messages of no bytes: one for each
		s.count++
		s.due += s.period
	}
	return w.Commit()
}
