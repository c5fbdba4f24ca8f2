package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/schema/builtin"

	_ "modernc.org/sqlite"
)

// stripped returns a copy of a folder whose db3 files have lost their definitions, and with its metadata
// their type hashes; "" if there were no definitions.
func stripped(t *testing.T, folder, to string) string {
	t.Helper()
	if st, err := os.Stat(folder); err != nil || !st.IsDir() {
		return ""
	}
	if err := os.CopyFS(to, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(to, 0o777); err != nil {
		t.Fatal(err)
	}
	parts, err := filepath.Glob(filepath.Join(to, "*.db3"))
	if err != nil || len(parts) == 0 {
		return ""
	}
	lost := int64(0)
	for _, part := range parts {
		db, err := sql.Open("sqlite", part)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := db.Exec("DELETE FROM message_definitions"); err == nil {
			n, _ := res.RowsAffected()
			lost += n
			_, _ = db.Exec("UPDATE topics SET type_description_hash = ''") // older schemas have no hashes
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if lost == 0 {
		return ""
	}
	metadata := filepath.Join(to, "metadata.yaml")
	text, err := os.ReadFile(metadata)
	if errors.Is(err, fs.ErrNotExist) {
		return to
	}
	if err == nil {
		err = os.WriteFile(metadata, typeHash.ReplaceAll(text, []byte("''")), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

var typeHash = regexp.MustCompile(`RIHS01_[0-9a-f]{64}`)

// TestDefinitionsBack: a recording without definitions becomes the same bag as the original once
// --defs names a place that has them: the original, or a pack of it.
func TestDefinitionsBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	demo := filepath.Join(dir, "demo")
	convert(t, filepath.Join("..", "..", "testdata", "demo.bag"), demo+"/", "--no-sync")
	n := 0
	for i, folder := range append([]string{demo}, folders(t)...) {
		bare := stripped(t, folder, filepath.Join(dir, fmt.Sprintf("bare%d", i)))
		if bare == "" {
			continue
		}
		n++
		want, got := filepath.Join(dir, fmt.Sprintf("want%d.bag", i)), filepath.Join(dir, fmt.Sprintf("got%d.bag", i))
		wanted, text := bagconv(t, folder, want, "--no-sync")
		status, stderr := bagconv(t, bare, got, "--no-sync", "--defs", folder)
		if status != wanted {
			t.Errorf("%s: status %d, with definitions in the recording %d\n%s\n%s", folder, status, wanted, stderr, text)
			continue
		}
		a, err := os.ReadFile(want)
		if err != nil {
			continue // nothing could be converted
		}
		b, err := os.ReadFile(got)
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: %v, %d bytes became %d\n%s", folder, err, len(a), len(b), stderr)
		}
		pack := filepath.Join(dir, fmt.Sprintf("pack%d.zip", i))
		if status, stderr := bagconv(t, "defs", "collect", folder, "-o", pack); status != 0 {
			t.Errorf("%s: %d %s", folder, status, stderr)
		}
		_, stderr = bagconv(t, bare, got, "--force", "--no-sync", "--defs", pack)
		if b, err = os.ReadFile(got); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: %v, with a pack %d bytes became %d\n%s", folder, err, len(a), len(b), stderr)
		}
	}
	if n == 0 {
		t.Error("no recording has definitions")
	}
	t.Logf("%d recordings", n)
}

// wrongTree writes the definitions of a recording as a tree of packages, each with one field
// changed in a way that shows. It returns how many definitions it has.
func wrongTree(t *testing.T, folder, to string, r *rand.Rand) (n int) {
	t.Helper()
	out, err := exec.Command(binary, "schema", folder, "--json").Output()
	var list struct {
		Definitions []struct{ Type, Encoding, Text string }
	}
	if json.Unmarshal(out, &list) != nil {
		t.Fatalf("%s: %v: %s", folder, err, out)
	}
	for _, d := range list.Definitions {
		pkg, short, _ := strings.Cut(d.Type, "/msg/")
		root, _, _ := strings.Cut(d.Text, "\n====")
		var fields []string
		for line := range strings.Lines(root) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' && !strings.Contains(strings.SplitN(line, "#", 2)[0],
				"=") {
				fields = append(fields, strings.SplitN(line, "#", 2)[0])
			}
		}
		if d.Encoding != "ros2msg" || short == "" || len(fields) == 0 {
			continue
		}
		switch i := r.IntN(len(fields)); r.IntN(3) {
		case 0:
			fields[i] = "int16[] other_" + strconv.Itoa(i)
		case 1:
			fields[i] = "float64[3] other_" + strconv.Itoa(i) + "\n" + fields[i]
		default:
			fields = append(fields, "string[2] more")
		}
		dir := filepath.Join(to, pkg, "msg")
		if err := errors.Join(os.MkdirAll(dir, 0o777), os.WriteFile(filepath.Join(dir, short+".msg"),
			[]byte(strings.Join(fields, "\n")), 0o666)); err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// linesOf returns the messages of a recording as text, by topic.
func linesOf(t *testing.T, path string, flags ...string) map[string][]string {
	t.Helper()
	out, err := exec.Command(binary, append([]string{"cat", path}, flags...)...).Output()
	topics := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		var m struct{ Topic string }
		if json.Unmarshal([]byte(line), &m) != nil {
			t.Fatalf("%s: %v: %s", path, err, line)
		}
		topics[m.Topic] = append(topics[m.Topic], line)
	}
	return topics
}

// TestWrongDefinitions: with wrong definitions of all types, a recording that has none has the
// values of the original, or its topics are not converted; nothing is read by a wrong definition
// unless a line of the report calls it a choice. The definitions are changed by seeds: BAGCONV_EXHAUSTIVE=1 tries
// several hundred.
func TestWrongDefinitions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	demo := filepath.Join(dir, "demo")
	convert(t, filepath.Join("..", "..", "testdata", "demo.bag"), demo+"/", "--no-sync")
	seeds := 1
	if os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		seeds = 25
	}
	tried, all := 0, readings{}
	for i, folder := range append([]string{demo}, folders(t)...) {
		bare := stripped(t, folder, filepath.Join(dir, fmt.Sprintf("bare%d", i)))
		if bare == "" {
			continue
		}
		want := linesOf(t, folder)
		for seed := range seeds {
			tree := filepath.Join(dir, fmt.Sprintf("tree%d_%d", i, seed))
			n := wrongTree(t, folder, tree, rand.New(rand.NewPCG(uint64(i), uint64(seed))))
			if n == 0 {
				continue
			}
			tried += n
			all.add(t, fmt.Sprintf("%s, seed %d", folder, seed), bare, tree, want)
		}
	}
	t.Logf("%d wrong definitions: %+v", tried, all)
}

// A readings counts the topics of recordings that were read by definitions of others.
type readings struct{ Kept, Refused, Chosen int }

// add reads a recording without definitions by those of a place; want is what the original has. A
// topic is read by nothing else than what has its values, unless a line of the report calls it a choice.
func (n *readings) add(t *testing.T, about, bare, place string, want map[string][]string) {
	t.Helper()
	_, stderr := bagconv(t, bare, filepath.Join(t.TempDir(), "out.bag"), "-v", "--no-sync", "--defs", place)
	got := linesOf(t, bare, "--defs", place)
	for topic, lines := range want {
		switch {
		case got[topic] == nil:
			n.Refused++
		case slices.Equal(got[topic], lines):
			n.Kept++
		case slices.ContainsFunc(strings.Split(stderr, "\n"), func(line string) bool {
			return strings.Contains(line, ": "+topic+": ") && strings.HasSuffix(line, "[definition-choice]")
		}):
			n.Chosen++
		default:
			t.Errorf("%s: %s is read otherwise:\n%s%s\n%s", about, topic, got[topic][0], lines[0], stderr)
		}
	}
}

// distroTree writes all definitions of a distribution as a tree of packages.
func distroTree(t *testing.T, distro, to string) {
	t.Helper()
	for _, name := range builtin.Names(distro) {
		text, _ := builtin.Lookup(distro, name)
		parts := strings.Split(name, "/") // pkg/Type or pkg/msg/Type, pkg/srv/Type, pkg/action/Type
		folder := "msg"
		if len(parts) == 3 {
			folder = parts[1]
		}
		dir := filepath.Join(to, parts[0], folder)
		if err := errors.Join(os.MkdirAll(dir, 0o777), os.WriteFile(filepath.Join(dir, parts[len(parts)-1]+"."+folder),
			[]byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOtherDistributions: with the definitions of any distribution given, a recording that has none has
// the values of the original. BAGCONV_EXHAUSTIVE=1 tries all distributions.
func TestOtherDistributions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	distros := []string{"foxy"}
	if os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		distros = builtin.Distros()
	}
	for _, distro := range distros {
		distroTree(t, distro, filepath.Join(dir, distro))
	}
	demo := filepath.Join(dir, "demo")
	convert(t, filepath.Join("..", "..", "testdata", "demo.bag"), demo+"/", "--no-sync")
	var all readings
	for i, folder := range append([]string{demo}, folders(t)...) {
		bare := stripped(t, folder, filepath.Join(dir, fmt.Sprintf("bare%d", i)))
		if bare == "" {
			continue
		}
		want := linesOf(t, folder)
		for _, distro := range distros {
			all.add(t, folder+" with "+distro, bare, filepath.Join(dir, distro), want)
		}
	}
	if all.Kept == 0 {
		t.Error("nothing was read")
	}
	t.Logf("%d distributions: %+v", len(distros), all)
}
