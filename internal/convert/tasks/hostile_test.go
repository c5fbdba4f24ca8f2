package tasks

import (
	"bytes"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// hostile are tasks that would write where no plan may, as what is wrong with a sound one.
var hostile = []struct{ key, value string }{
	{"output", `"/other/x.bag"`}, {"output", `"/out/../other/x.bag"`}, {"output", `"/out"`}, {"output",
		`"/out/"`}, {"output", `"x.bag"`}, {"output", `"/out/./x.bag"`},
	{"id", `"../../../ID"`}, {"id", `"5f0c"`}, {"id", `"0123456789abcdef0123456Z"`}, {"output",
		`"/out/.bagconv/x.json"`}, {"output", `"/outside/x.bag"`}, {"output", `"s3://out/x.bag"`}, {"output_dir",
		`"/out/.."`}, {"output_dir", `"out"`}, {"source", `"in/x.bag"`},
	{"source", `"/in/../../etc/x.bag"`}, {"source", `"s3://b/../c/x.bag"`},
	{"range", `{"part":3,"parts":3,"joined":"/out/x.bag"}`}, {"range", `{"part":-1,"parts":3,"joined":"/out/x.bag"}`}, {
		"range", `{"part":0,"parts":0,"joined":"/out/x.bag"}`},
	{"range", `{"part":0,"parts":3,"joined":"/out/../x.bag"}`}, {"range", `{"part":0,"parts":3,"joined":"/x.bag"}`}, {
		"range", `{"part":0,"parts":3,"joined":""}`},
	{"range", `{"part":0,"parts":3,"joined":"/out/x.bag","first":"soon"}`},
}

// line returns a task with one other value.
func line(key, value string) string {
	text := `{"schema_version":2,"recipe":{"format":"bag","settings":[],"run":[]}`
	for k, v := range map[string]string{"id": `"0123456789abcdef01234567"`, "source": `"/in/x.bag"`,
		"output_dir": `"/out"`, "output": `"/out/a/x.bag"`, "range": `{"part":0,"parts":3,"joined":"/out/a/x.bag"}`} {
		if k == key {
			v = value
		}
		text += fmt.Sprintf(`,"%s":%s`, k, v)
	}
	return text + "}"
}

// first returns a task as version 1 had it.
func first(line string) string {
	return strings.Replace(line, `"schema_version":2,"recipe":{"format":"bag","settings":[],"run":[]}`,
		`"schema_version":1,"format":"bag","flags":["--to=bag","--compression=lz4","--verify=content","-t=/imu"],"definitions":"00ff"`, 1)
}

// TestFirstVersion: tasks of version 1 are read, with their IDs; what is no flag is refused.
func TestFirstVersion(t *testing.T) {
	task, err := ParseTask([]byte(first(line("", ""))))
	if err != nil {
		t.Fatal(err)
	}
	r := task.Recipe
	if got := fmt.Sprint(r.Format, r.Content, r.Settings,
		task.ID); got != "bag00ff[--compression=lz4 --verify=content -t=/imu]0123456789abcdef01234567" {
		t.Errorf("%s", got)
	}
	if _, err := ParseTask([]byte(strings.Replace(first(line("", "")), "--compression=lz4", "lz4", 1))); err == nil {
		t.Error("a flag without a name is read")
	}
}

// TestHostile: a plan cannot make work write outside of its folder of outputs.
func TestHostile(t *testing.T) {
	if _, err := ParseTask([]byte(line("", ""))); err != nil {
		t.Fatal(err)
	}
	for _, c := range hostile {
		if task, err := ParseTask([]byte(line(c.key, c.value))); err == nil {
			t.Errorf("%s %s is accepted: %+v", c.key, c.value, task)
		}
	}
	for _, url := range []string{"s3://bucket", "s3://bucket/a b%/ü"} {
		text := strings.ReplaceAll(line("", ""), "/out", url)
		task, err := ParseTask([]byte(text))
		if err != nil || task.Output != filepath.Clean(url+"/a/x.bag") || !bytes.Contains(Line(task), []byte("/out")) &&
			task.OutputDir != filepath.Clean(url) {
			t.Errorf("%s: %+v, %v", url, task, err)
		}
	}
}

// FuzzTask: whatever a line is, a task that is accepted writes below its folder, and is the same again
// as a line.
func FuzzTask(f *testing.F) {
	f.Add(line("", ""))
	for _, c := range hostile {
		f.Add(line(c.key, c.value))
	}
	f.Add(strings.ReplaceAll(line("", ""), "/out", "s3://bucket/out"))
	f.Add(first(line("", "")))
	f.Fuzz(func(t *testing.T, text string) {
		_ = ParseResult([]byte(text))
		task, err := ParseTask([]byte(text))
		if err != nil {
			return
		}
		names := []string{task.Output, path(task.OutputDir, task.Output)}
		if task.Range != nil {
			names = append(names, task.Range.Joined, task.Range.Folder(), task.Range.Stage())
		}
		for _, name := range names {
			rel, err := filepath.Rel(task.OutputDir, name)
			if err != nil || strings.Contains("/"+filepath.ToSlash(rel)+"/", "/../") {
				t.Errorf("%q is not in %q", name, task.OutputDir)
			}
		}
		again, err := ParseTask(Line(task))
		if err != nil || !reflect.DeepEqual(again, task) && !strings.Contains(text, ":/") {
			t.Errorf("%+v, and read again %+v, %v", task, again, err)
		}
	})
}
