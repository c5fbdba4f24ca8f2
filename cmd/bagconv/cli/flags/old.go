package flags

// gone are flags that were, with what to type instead.
var gone = map[string]string{
	"print-config": "bagconv help COMMAND has the defaults, and --config FILE reads flags as they stand on a line, " +
		"without dashes",
	"metrics": "--report FILE and --json have the numbers of a run, results of work the numbers of a task, " +
		"and --progress json the numbers so far",
}

// foreign are flags of other programs, with what does the same here.
var foreign = map[string]string{
	"frame":         "type --frames apollo or --frames rep103",
	"include":       "type -t TOPIC",
	"input":         "the input is the first word without a dash",
	"list":          "bagconv info --topics lists topics",
	"out":           "type -o OUT",
	"output-format": "type --to FORMAT",
	"parquet":       "bagconv export IN OUT.parquet writes tables",
	"speed":         "bagconv play takes --rate X",
	"b":             "type -S TIME",
	"begin":         "type -S TIME",
	"bz2":           "type --compression bz2",
	"c":             "type -t TOPIC",
	"channel":       "type -t TOPIC",
	"d":             "type -u DURATION",
	"downsample":    "type --throttle TOPIC=HZ, or --every TOPIC=N",
	"e":             "type -E TIME",
	"exclude":       "type -x TOPIC",
	"fields":        "name fields behind the recording: bagconv cat IN /imu.orientation.x",
	"lz4":           "type --compression lz4",
	"n":             "bagconv cat takes --limit N",
	"overwrite":     "type --force",
	"port":          "bagconv serve takes --listen :PORT",
	"rename":        "type --remap OLD:=NEW",
	"s":             "type -S TIME",
	"time":          "type -S TIME and -E TIME",
	"topics":        "type -t TOPIC for each",
	"workers":       "type --threads N, or --jobs N for batch",
	"zstd":          "type --compression zstd",
}
