package cli

import (
	"slices"
	"strings"
	"sync"

	"github.com/bagconv/bagconv/formats/all"
)

// A FlagRow says what a flag must do. TestFlagRows runs each for every command that takes the flag, with the flag and
// without, and what Want says must hold of the run with it alone: a row cannot pass by itself.
type FlagRow struct {
	Flag, Value string
	In, With    string // the input, "in.bag" if it is ""; flags that both runs have
	On          string // the commands; "": all of FlagLines that write and take the flag
	Not         string // commands of them that another row, or a script, is for
	// a regular expression of what is printed and written; !X: it is there without the flag alone; =: nothing changes
	Want    string
	Refused string // a wrong value, a blank, and words of its error
	Status  int    // of the run with the flag; batch and plan have 5 in the place of 1 and 4
	Again   bool   // the line has run before, without the flag
	Line    string // in the place of that of FlagLines
}

// FlagLines are the commands that rows run: $IN is the input, $OUT the output, $D a folder for all that is written.
var FlagLines = map[string]string{
	"convert": "convert $IN $OUT", "filter": "filter $IN $OUT", "recover": "recover $IN $OUT",
	"merge": "merge $IN other.bag $OUT", "split": "split $IN $OUT --at 1h",
	"batch": "batch $IN -O $D/out", "plan": "plan $IN -O $D/out -o $D/plan.jsonl", "export": "export $IN $OUT",
	"append": "append $TARGET $IN",
	"work":   "work --task plan.jsonl", "info": "info $IN", "schema": "schema $IN", "cat": "cat $IN",
	"check": "check $IN --fail-on note --exit-zero", "verify": "verify $IN $IN",
}

// FlagRows are the rows. The scripts have the flags that one command alone takes.
var FlagRows = []FlagRow{
	// What to take.
	{Flag: "topic", Value: "/parts", Want: `!/chatter|chatter\.csv`},
	{Flag: "exclude-topic", Value: "/parts", Want: `!"/parts"|parts\.csv`},
	{Flag: "type", Value: "std_msgs/*", Want: `!"/parts"|parts\.csv`},
	{Flag: "exclude-type", Value: "std_msgs/*", Want: `!/chatter|chatter\.csv`},
	{Flag: "missing-topics", Value: "ok", With: "-t /parts -t /typo", Want: `/parts|parts\.csv`,
		Refused: "yes --missing-topics: unknown value \"yes\"; it is one of: error, ok"},
	{Flag: "start", Value: "200ms", Want: `!1700000000100000000`},
	{Flag: "end", Value: "300ms", Want: `!1700000000300000000`},
	{Flag: "duration", Value: "0.3", Want: `!1700000000300000000`},
	{Flag: "where", Value: `/chatter.data!="hello\x203"`, Want: `!hello 3`,
		Refused: "1>2 --where: 1>2: at character 1, \"1>2\": no topic is named; write a field as"},
	{Flag: "within", Value: "0.15", With: `--where /chatter.data=="hello\x203"`, Want: `hello 2`,
		Refused: "x --within: \"x\" is not a duration above 0"},
	{Flag: "while", With: `--where /parts.header.seq==7`, Want: `!hello 3`},
	{Flag: "latch", Value: "/parts", With: "-S 0.6",
		Want: `/parts.*1700000000600000000|parts\.csv\n.*\n1700000000600000000`},
	{Flag: "from", Value: "bag", In: "lost.bag", Want: `hello 3`},

	// What to change.
	{Flag: "remap", Value: "/chatter:=/speech", Want: `/speech|speech\.csv`},
	{Flag: "prefix", Value: "/r", Want: `/r/chatter|r/chatter\.csv`},
	{Flag: "throttle", Value: "/chatter=5", Want: `!1700000000100000000`},
	{Flag: "every", Value: "/chatter=5", Want: `!1700000000100000000`},
	{Flag: "restamp", Value: "log", With: "-t /parts",
		Want:    `"sec":1700000000,"nanosec":500000000|1700000000500000000,.*,.*1700000000500000000`,
		Refused: "soon --restamp: unknown value \"soon\"; it is one of: header, log"},
	{Flag: "offset", Value: "1s", Want: `1700000001500000000`},

	{Flag: "set", Value: `/chatter.data="bye\x20"+"now"`, Want: `bye now`,
		Refused: "1=2 --set: 1=2: at character 1, \"1=2\": no field is named; write a field as"},
	{Flag: "drop-field", Value: "/chatter.data", Want: `!hello 3`, Refused: "/chatter --drop-field: /chatter: at character 1"},
	{Flag: "frame", Value: "base_*:=*_base", In: "demo.bag", With: "-t /tf", Want: `link_base`,
		Refused: "a --frame: \"a\": write OLD:=NEW"},
	{Flag: "strip-frame-slash", In: "demo.bag", With: `-t /odom --set /odom.header.frame_id="/m"+"ap"`, Want: `!/map`},
	{Flag: "drop-tf", Value: "wheel_l", In: "demo.bag", With: "-t /tf", Want: `!"wheel_l"`,
		Refused: "re:( --drop-tf: \"(\" is not a regular expression"},
	{Flag: "static", Value: "base,cam,0,0,1,0,0,0,1", In: "demo.bag", With: "-t /tf_static",
		Want: `"cam"`, Refused: "a --static: \"a\" has 1 words: write"},
	{Flag: "static-once", In: "demo.bag", With: `-t /tf_static --static base,cam,0,0,1,0,0,0,1`,
		Want: `cam_b.*"cam"`},

	// The output.
	{Flag: "to", Value: "mcap", Want: `format: +mcap`},
	{Flag: "output", Value: "$D/named.bag", Want: `file named.*\.bag`, Not: "export plan"},
	{Flag: "output", Value: "$D/named", Want: `file named/chatter\.csv`, On: "export"},
	{Flag: "output-dir", Value: "$D/named", Want: `file named/(in|chatter)\.`},
	{Flag: "force", Again: true, Want: `!exists already|has written here before`},
	{Flag: "format", Value: "arrow", Want: `file out/chatter.arrow`},
	{Flag: "dry-run", Want: `!file out`},
	{Flag: "compression", Value: "bz2", Want: `compression: +bz2`, Refused: "zip --compression", Not: "export"},
	{Flag: "compression", Value: "none", With: "--to parquet", Want: `hello 3`, On: "export"},
	{Flag: "level", Value: "1", With: "--compression bz2", Want: `BZh1`, Refused: "-1 is not a number of 0 or more"},
	{Flag: "chunk-size", Value: "300", With: "--compression bz2", Want: `bz2 \[\d\d? (blocks|chunks)`,
		Refused: "big --chunk-size: \"big\" is not a size; type for example 768K"},
	{Flag: "encrypt", Value: "key:@key.txt", Want: `!hello 3`},
	{Flag: "segment-size", Value: "500", With: "--to record", Want: `file out.*record\.00001`,
		Refused: "big --segment-size: \"big\" is not a size; type for example 768K, 4M or 1000000"},
	{Flag: "segment-duration", Value: "300ms", With: "--to record", Want: `file out.*record\.00002`,
		Refused: "0 --segment-duration: \"0\" is not a duration above 0; type for example 60s, 5m or 1h"},
	{Flag: "segment-names", Value: "old", With: "--to record --segment-duration 300ms", Want: `file out.*record\.00002\n`},
	{Flag: "compression-mode", Value: "message", With: "--to db3 --compression zstd", Want: `compression_mode: "MESSAGE"`},
	{Flag: "storage", Value: "mcap", With: "--to db3", Want: `file .*\.mcap`},
	{Flag: "preset", Value: "fastwrite", With: "--to mcap", Want: `compression: +none`},
	{Flag: "no-sync", Want: `!the disk was waited for`},
	{Flag: "qos", Value: "/parts:best_effort,depth=3", With: "--to db3", Want: `reliability: 2`, Not: "export"},
	{Flag: "qos", Value: "/parts:best_effort,depth=3", Want: `"reliability": "best_effort"`, On: "export"},
	{Flag: "custom-data", Value: "robot=r9", With: "--to db3 --distro jazzy", Want: `robot: "r9"`, Not: "export"},
	{Flag: "custom-data", Value: "robot=r9", Want: `"robot": "r9"`, On: "export"},

	// Tables, pictures, clouds and tracks.
	{Flag: "columns", Value: "header.stamp,angular_velocity.x", In: "demo.bag", With: "-t /imu/data --to csv",
		Want: `log_time,publish_time,header.stamp,angular_velocity.x\n`},
	{Flag: "flat", In: "demo.bag", With: "-t /imu/data --to parquet", Want: `angular_velocity\.x`},
	{Flag: "explode", Value: "transforms", In: "demo.bag", With: "-t /tf --to csv",
		Want: `log_time,publish_time,transforms\.header\.seq,`},
	{Flag: "times", Value: "struct", In: "demo.bag", With: "-t /imu/data --to csv",
		Want: `header\.stamp\.sec,header\.stamp\.nanosec`},
	{Flag: "text", Value: "binary", In: "oddtext", With: "--to parquet", Want: `!text-replaced`},
	{Flag: "blobs", Value: "placed", In: "demo.bag", With: "-t /cam_a/image_raw --to csv",
		Want: `,data.bytes,data.file,data.offset,data.size\n`},
	{Flag: "images", Value: "files", In: "demo.bag", With: "-t /cam_a/image_raw --to csv",
		Want: `file .*/1700000000170959000\.png`},
	{Flag: "debayer", In: "bayer", With: "--images files --to csv", Want: `IHDR(?s:.{9})\x02`},
	{Flag: "video", In: "demo.bag", With: "-t /cam_a/image_raw --to csv", Want: `file .*image_raw\.mp4`},
	{Flag: "clouds", Value: "ply", In: "demo.bag", With: "-t /lidar/points --to csv",
		Want: `format binary_little_endian 1\.0`},
	{Flag: "drop-nan", In: "demo.bag", With: "-t /lidar/points --clouds pcd --to csv", Want: `HEIGHT 1\n`},
	{Flag: "tracks", Value: "tum", In: "demo.bag", With: "-t /odom --to csv",
		Want: `1700000000\.020111000 0\.02 0 0 0 0 0 1\n`},
	{Flag: "chain", Value: "base_link:odom", In: "demo.bag", With: "-t /odom -t /tf --to csv",
		Want: `file .*base_link_odom\.tum`},
	{Flag: "join", Value: "/odom", In: "demo.bag", With: "-t /odom -t /imu/data --to csv", Want: `file .*joined\.csv`},
	{Flag: "resample", Value: "10Hz", In: "demo.bag", With: "-t /odom --to csv", Want: `file .*joined\.csv`},
	{Flag: "method", Value: "nearest", In: "demo.bag",
		With: "-t /odom -t /imu/data --columns header.stamp --resample 10Hz --to csv",
		Want: `1700000000000281056,1700000000000281056,1699999999999937000,1700000000000440550,1700000000000111000`},
	{Flag: "max-gap", Value: "1ms", In: "demo.bag",
		With: "-t /odom -t /imu/data --columns header.stamp --resample 10Hz --method last --to csv",
		Want: `\n1700000000100281056,,,,\n`},
	{Flag: "layout", Value: "hive", With: "--to csv", Want: `file .*topic=chatter/part-0\.csv`},

	// What becomes of messages.
	{Flag: "encoding", Value: "ros1", With: "--to mcap", Want: `ros1msg`, Not: "append"},
	{Flag: "types-to", Value: "migration", In: "demo.bag", With: "-t /acme/status", Want: `"label"`, Status: 3},
	{Flag: "rules", Value: "migration/rules.yaml", In: "demo.bag", With: "-t /acme/status --types-to migration",
		Want: `"quality":7`},
	{Flag: "proto-types", Value: "generated", In: "demo.record", With: "--to db3 -u 0.2 -t /apollo/sensor/gnss/*",
		Want: `apollo_[a-z_]+/msg`},
	{Flag: "frames", Value: "rep103", In: "demo.record", With: "--to db3 -u 0.2 -t /apollo/sensor/gnss/*",
		Want: `0\.7071067811865476`},
	{Flag: "apollo-layout", Value: "legacy", In: "demo.bag", With: "--to record -t /lidar/points -u 0.2",
		Want: `modules/drivers/proto/pointcloud\.proto`},
	{Flag: "distro", Value: "jazzy", With: "--to db3", Want: `version: 9`, Refused: "humbel did you mean humble?",
		Not: "append export"},
	{Flag: "distro", Value: "foxy", In: "marker", Want: `!texture_resource`, On: "export"},
	{Flag: "defs", Value: "defs", In: "odd", Want: `"a":1|,1,2,3\n`},
	{Flag: "order", Value: "file", In: "late.bag", Want: `1700000000200000000.*\n.*1700000000100000000`,
		Refused: "size --order: unknown value \"size\"; it is one of: time, file"},
	{Flag: "header-seq", Value: "zero", In: "imu", Want: `!"seq":1`,
		Refused: "one --header-seq: unknown value \"one\"; it is one of: count, zero"},
	{Flag: "rosout", Value: "ros2", In: "log.bag", With: "--to db3", Want: `rcl_interfaces/msg/Log`, Status: 3,
		Refused: "one --rosout: unknown value \"one\"; it is one of: keep, ros2"},
	{Flag: "strict", In: "bad.bag", With: "--to db3", Want: `because of --strict|without --strict`, Status: 1,
		Not: "export"},
	{Flag: "strict", In: "bad.bag", Want: `because of --strict|without --strict`, Status: 1, On: "export"},
	{Flag: "attach", Value: "cal.yaml", With: "--to mcap", Want: `cal\.yaml`, Not: "export"},
	{Flag: "attach", Value: "cal.yaml", Want: `file .*cal\.yaml`, On: "export"},
	{Flag: "extras", Value: "$D/kept", In: "extras.mcap", Want: `file kept/.*notes\.txt`, Not: "export"},
	{Flag: "extras", Value: "$D/kept", Want: `file kept/.*notes\.txt`, On: "export", Line: "export extras.mcap $D/x.csv"},

	// The run.
	{Flag: "threads", Value: "1", Want: "=",
		Refused: "257 --threads needs a number of workers, not 257; 0 is one per core, 256 is the most"},
	{Flag: "max-memory", Value: "64M", Want: "=", Refused: `1M --max-memory needs a size of at least 64M, not "1M"`},
	{Flag: "jobs", Value: "1", In: "in.bag two.bag", Want: "=", Refused: "x --jobs"},
	{Flag: "resume", In: "in.bag two.bag", Again: true, Want: `skipped`},
	{Flag: "verify", Value: "bytes", With: "--to db3", Want: `the output differs from the input and was removed`,
		Status: 4},
	{Flag: "report", Value: "$D/run.json", Want: `"exit_status": 0,`},
	{Flag: "json", Want: `"exit_status": 0,`},
	{Flag: "progress", Value: "json", Want: `\{"event":"summary"`, Refused: "loud --progress: unknown value"},
	{Flag: "quiet", Want: `!: 22 messages|: 23 messages|1 input in|1 task, `},
	{Flag: "verbose", In: "extras.mcap", Want: `!-v lists`, Not: "batch"},
	{Flag: "verbose", With: "--progress none", Want: `ok: in\.bag`, On: "batch"},
	{Flag: "connections", Value: "2", Want: `--connections: without effect, because no URL`},
	{Flag: "bandwidth", Value: "50M", Want: `--bandwidth: without effect, because no URL`},
	{Flag: "timeout", Value: "5s", Want: `--timeout: without effect, because no URL`},
	{Flag: "retries", Value: "2", Want: `--retries: without effect, because no URL`},
	{Flag: "bag-key", Value: "@key.txt", In: "secret.bag", Want: `hello 3`},
	{Flag: "config", Value: "flags.yaml", Want: `/named/chatter|named/chatter\.csv`},
	{Flag: "include-from", Value: "list.txt", Want: `two\.`},
	{Flag: "base", Value: ".", In: "sub/in.bag", Want: `file out/sub/`},
	{Flag: "manifest", Value: "$D/m.jsonl", Want: `file m\.jsonl`},
	{Flag: "checksum", Want: `"sha256":"[0-9a-f]{64}"`},

	// Commands that read.
	{Flag: "threads", Value: "1", Want: "=", On: "info check verify work",
		Refused: "257 --threads needs a number of workers, not 257; 0 is one per core, 256 is the most"},
	{Flag: "progress", Value: "plain", Want: "=", On: "info check verify", Refused: "loud --progress: unknown value"},
	{Flag: "type", Value: "std_msgs/*", Want: `!"/parts"`, On: "cat"},
	{Flag: "exclude-type", Value: "std_msgs/*", Want: `!/chatter`, On: "cat"},
	{Flag: "end", Value: "300ms", Want: `!1700000000300000000`, On: "cat"},
	{Flag: "distro", Value: "foxy", In: "marker", Want: `!texture_resource`, On: "schema"},
	{Flag: "gap", Value: "100", In: "gap.bag", Want: `!time-gap`, On: "check"},
	{Flag: "stamp-offset", Value: "3s", In: "far.bag", Want: `!stamp-far`, On: "check"},
	{Flag: "distro", Value: "foxy", Want: "=", On: "check", Refused: "x --distro: unknown value"},
	{Flag: "no-timeline", In: "gap.bag", Want: `!timeline:`, On: "info check"},
	{Flag: "jobs", Value: "1", Want: "=", On: "work", Refused: "x --jobs"},
	{Flag: "max-memory", Value: "64M", Want: "=", On: "work",
		Refused: `1M --max-memory needs a size of at least 64M, not "1M"`},
	{Flag: "bag-key", Value: "@key.txt", In: "secret.bag", Want: `hello 3`, On: "work"},
}

// Commands returns the commands that the row is for.
func (r *FlagRow) Commands() (list []string) {
	if r.On != "" {
		return strings.Fields(r.On)
	}
	for _, name := range FlagTakers()[r.Flag] {
		if slices.Contains(RowWriters, name) && !slices.Contains(strings.Fields(r.Not), name) {
			list = append(list, name)
		}
	}
	return list
}

// ExitStatus returns how the line with the flag ends.
func (r *FlagRow) ExitStatus(command string) int {
	if (r.Status == 1 || r.Status == 4) && (command == "batch" || command == "plan") {
		return 5
	}
	return r.Status
}

// RowWriters are the commands of FlagLines that write.
var RowWriters = []string{"convert", "filter", "merge", "split", "recover", "export", "batch", "plan", "append"}

// FlagTakers returns the commands that take each flag, by its name.
var FlagTakers = sync.OnceValue(func() map[string][]string {
	takers := map[string][]string{}
	for _, c := range (&env{formats: withExports(all.Registry())}).commands() {
		for _, f := range c.Flags {
			takers[f.Name] = append(takers[f.Name], c.Name)
		}
	}
	return takers
})
