package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// TestOptions: what a format has as an option has a flag, help, completion and a place
// in bagconv formats, reaches Create, and is refused by other formats.
func TestOptions(t *testing.T) {
	var got map[string]string
	toy := &storage.Format{
		Name: "toy", Help: "a format with an option of its own", Extensions: []string{".toy"},
		Holds: storage.Capacity{Native: "ros1"},
		Options: storage.Options{
			{Name: "trim", Kind: storage.OptionChoice, Values: []string{"off", "all"}, Help: "what is left out"},
			{Name: "wait", Kind: storage.OptionDuration, Help: "how long to wait"},
		},
		Sniff: func(storage.FS, string, []byte) bool { return false },
		Open: func(context.Context, string, storage.ReadOptions) (storage.Reader, error) {
			return nil, errors.New("none")
		},
		Create: func(_ context.Context, _ string, o storage.WriteOptions) (storage.Writer, error) {
			got = o.Values
			return nil, errors.New("toys are not made")
		},
	}
	registry := storage.NewRegistry(append(all.Registry().Formats(), toy)...)
	run := func(args ...string) (status int, out, errOut string) {
		var o, e bytes.Buffer
		status = Run(context.Background(), append([]string{"bagconv"}, args...), Stdio{Out: &o, Err: &e}, registry)
		return status, o.String(), e.String()
	}
	in := "../../../testdata/demo.bag"
	for _, c := range []struct {
		args   []string
		status int
		out    string // or on standard error
	}{
		{[]string{"convert", "--help"}, 0, "  --trim VALUE          off (default) or all (toy): what is left out\n"},
		{[]string{"formats", "--json"}, 0, `"name": "trim",`},
		{[]string{"__complete", "--", in, "x.toy", "--trim", "."}, 0, "off"},
		{[]string{in, "x.toy", "--trim", "some"}, 2, "--trim of toy: unknown value \"some\"; it is one of: off, all"},
		{[]string{in, "x.toy", "--wait", "0"}, 2, "--wait: \"0\" is not a duration above 0"},
		{[]string{in, t.TempDir() + "/x.bag", "--trim", "all"}, 2, "--trim: a bag has no such option; omit it"},
		{[]string{in, t.TempDir() + "/x.toy", "--trim", "all", "--wait", "5s"}, 1, "toys are not made"},
	} {
		if status, out, errOut := run(c.args...); status != c.status || !strings.Contains(out+errOut, c.out) {
			t.Errorf("%v: status %d\n%s%s\nwant %d, %q", c.args, status, out, errOut, c.status, c.out)
		}
	}
	if got["trim"] != "all" || got["wait"] != "5s" {
		t.Errorf("Create was given %v", got)
	}
}
