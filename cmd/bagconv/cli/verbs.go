package cli

import (
	"cmp"
	"io/fs"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/internal/nearest"
)

// mistypedVerb returns an error if the first word of a line is neither a command nor a
// recording.
func (e *env) mistypedVerb(word string) error {
	if word == "" || word == stream || strings.ContainsAny(word, `./\`) {
		return nil
	}
	var names []string
	old := map[string]string{} // what stands for a word now
	for _, c := range e.commands() {
		names = append(append(names, c.Name), c.Aliases...)
		for word, now := range c.Old {
			names, old[word] = append(names, word), c.Name+" "+now
		}
	}
	if _, err := e.fs.Stat(word); err == nil {
		return nil
	}
	if _, err := e.formats.DetectIn(e.fs, word); err == nil { // what several files begin with
		return nil
	}
	if instead := foreignVerbs[word]; instead != "" {
		return flags.Usage(instead, "unknown command %q", word)
	}
	if near := nearest.Word(word, names); near != "" {
		return flags.Usage("did you mean "+cmp.Or(old[near], near)+"?", "%q is neither a command nor a recording", word)
	}
	hint := e.suggestPath(word)
	if hint == "" {
		hint = "see: bagconv help"
	}
	return &failure{path: word, what: "no such file, folder or command", hint: hint, err: fs.ErrNotExist}
}

// foreignVerbs are commands of other programs, and words that somebody may try, with what does the same here.
var foreignVerbs = flags.ByWord(map[string]string{
	"bagconv cat prints messages":                            "echo dump print head tail",
	"bagconv export IN OUT writes tables, pictures and more": "parquet extract images video mp4 png pcd",
	"bagconv export IN OUT --chain TARGET:SOURCE does that":  "tf",
	"bagconv export IN OUT --format csv writes tables":       "to_csv topic2csv csv",
	"bagconv info describes a recording":                     "show stat stats count inspect describe summary",
	"bagconv info --topics lists topics":                     "ls types channels",
	"bagconv info --sizes lists the bytes of topics":         "size",
	"bagconv list attachments IN --extract DIR does that":    "get",
	"bagconv recover writes what can be read":                "fix repair",
	"bagconv check finds what is wrong":                      "validate scan lint",
	"bagconv verify compares two recordings":                 "compare",
	"bagconv merge joins recordings":                         "join concat",
	"bagconv report IN writes a page that shows it":          "html page preview plot",
	"bagconv serve shows recordings in viewers":              "view",
	"every conversion sorts by time: bagconv IN OUT":         "sort",
	"type: bagconv filter IN OUT -S 10 -u 60":                "cut trim crop slice clip",
	"type: bagconv IN OUT --attach FILE":                     "add",
	"type: bagconv IN OUT --compression lz4":                 "compress",
	"type: bagconv IN OUT --compression none":                "decompress",
	"type: bagconv IN OUT --remap OLD:=NEW":                  "rename remap",
	"type: bagconv IN OUT --throttle TOPIC=HZ":               "throttle downsample decimate",
	"type: bagconv IN OUT --where EXPRESSION":                "query",
})
