package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestPackageVersions(t *testing.T) {
	for _, c := range []struct{ version, system, python string }{
		{"1.2.3", "1.2.3", "1.2.3"},
		{"1.2.3-rc.1", "1.2.3~rc.1", "1.2.3rc1"},
		{"1.2.3-beta2", "1.2.3~beta2", "1.2.3b2"},
		{"1.2.3-5-g0123abc", "1.2.3+5.g0123abc", "1.2.3+5.g0123abc"},
		{"1.2.3-5-g0123abc-dirty", "1.2.3+5.g0123abc.dirty", "1.2.3+5.g0123abc.dirty"},
		{"a87eb29", "0.0.0+a87eb29", "0.0.0+a87eb29"},
		{"0123abc-dirty", "0.0.0+0123abc.dirty", "0.0.0+0123abc.dirty"},
		{"1.2.3+Build", "0.0.0+1.2.3.build", "0.0.0+1.2.3.build"},
	} {
		if system, python := packageVersions(c.version); system != c.system || python != c.python {
			t.Errorf("%s: %s, %s, want %s, %s", c.version, system, python, c.system, c.python)
		}
	}
}

// TestWheels: wheels and images depend on names and contents only, and a wheel's RECORD is right.
func TestWheels(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", strconv.FormatInt(when.Unix(), 10))
	var made [2]map[string][]byte
	for i := range made {
		folder, out := t.TempDir(), t.TempDir()
		path := filepath.Join(folder, "bagconv")
		if err := os.WriteFile(path, []byte("the program"), 0o600+os.FileMode(i)*4); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, when, when.Add(time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
		for system := range wheelTags {
			if err := run([]string{"wheel", out, path, "../../python", "1.2.3", system}); err != nil {
				t.Fatal(system, err)
			}
		}
		for _, arch := range []string{"amd64", "arm64"} {
			if err := run([]string{"image", out, folder, "1.2.3", arch}); err != nil {
				t.Fatal(arch, err)
			}
		}
		made[i] = filesOf(t, out)
	}
	want := []string{
		"bagconv-1.2.3-py3-none-macosx_12_0_arm64.whl", "bagconv-1.2.3-py3-none-macosx_12_0_x86_64.whl",
		"bagconv-1.2.3-py3-none-manylinux2014_aarch64.musllinux_1_1_aarch64.whl",
		"bagconv-1.2.3-py3-none-manylinux2014_x86_64.musllinux_1_1_x86_64.whl",
		"bagconv-1.2.3-py3-none-win_amd64.whl", "bagconv-1.2.3-py3-none-win_arm64.whl",
		"bagconv-image_1.2.3_amd64.tar", "bagconv-image_1.2.3_arm64.tar",
	}
	if got := slices.Sorted(maps.Keys(made[0])); !slices.Equal(got, want) {
		t.Errorf("made %v", got)
	}
	for name, data := range made[0] {
		if !bytes.Equal(data, made[1][name]) {
			t.Errorf("%s: two runs differ", name)
		}
		if strings.HasSuffix(name, ".whl") {
			checkWheel(t, name, checkRecord(t, name, data))
		}
	}
	for _, args := range [][]string{
		{"wheel", t.TempDir(), "packages_test.go", "../../python", "1.2.3", "plan9/amd64"},
		{"wheel", t.TempDir(), "none", "../../python", "1.2.3", "linux/amd64"},
		{"image", t.TempDir(), t.TempDir(), "1.2.3", "amd64"},
	} {
		if err := run(args); err == nil {
			t.Errorf("%q made something", args)
		}
	}
}

// checkRecord compares the RECORD of a wheel with the files in it, and returns these.
func checkRecord(t *testing.T, name string, wheel []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(wheel), int64(len(wheel)))
	if err != nil {
		t.Fatal(name, err)
	}
	var want, record string
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(name, err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(name, err)
		}
		files[f.Name] = string(data)
		if strings.HasSuffix(f.Name, ".dist-info/RECORD") {
			record = string(data)
			want += f.Name + ",,\n"
			continue
		}
		sum := sha256.Sum256(data)
		want += fmt.Sprintf("%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(data))
		if script := strings.Contains(f.Name, ".data/scripts/"); script != (f.Mode()&0o111 != 0) {
			t.Errorf("%s: %s has the mode %v", name, f.Name, f.Mode())
		}
	}
	if record != want {
		t.Errorf("%s: RECORD is\n%s\nwant\n%s", name, record, want)
	}
	return files
}

// checkWheel looks at the package in a wheel: it is that of the sources, with the version of the release.
func checkWheel(t *testing.T, name string, files map[string]string) {
	t.Helper()
	modules, err := filepath.Glob("../../python/bagconv/*.py")
	if err != nil || len(modules) < 5 {
		t.Fatal(modules, err)
	}
	for _, path := range modules {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, base := files["bagconv/"+filepath.Base(path)], filepath.Base(path)
		if base == "_version.py" {
			for _, line := range []string{"\n__version__ = \"1.2.3\"\n", "\nRELEASE: str | None = \"1.2.3\"\n"} {
				if !strings.Contains(got, line) {
					t.Errorf("%s: %s does not have %q:\n%s", name, base, line, got)
				}
			}
		} else if got != string(source) {
			t.Errorf("%s: %s is not that of the sources", name, base)
		}
	}
	if _, ok := files["bagconv/py.typed"]; !ok || len(files) != len(modules)+5 {
		t.Errorf("%s: its files are %v", name, slices.Sorted(maps.Keys(files)))
	}
	metadata := files["bagconv-1.2.3.dist-info/METADATA"]
	for _, line := range []string{
		"Version: 1.2.3\n", "Requires-Python: >=3.9\n", "Provides-Extra: arrow\nRequires-Dist: pyarrow>=",
		"; extra == 'arrow'\n",
		"Provides-Extra: polars\nRequires-Dist: polars>=", "Provides-Extra: pandas\nRequires-Dist: pandas>=",
		"\n\nbagconv converts",
	} {
		if !strings.Contains(metadata, line) {
			t.Errorf("%s: METADATA does not have %q:\n%s", name, line, metadata)
		}
	}
}

// TestReadProject: what is not an extra in one line is an error, and not left out.
func TestReadProject(t *testing.T) {
	const head = "requires-python = \">=3.9\"\n[project.optional-dependencies]\n"
	needs, extras, err := readProject(head + "# of tables\narrow = [\"pyarrow>=14\", \"numpy\"]\n\n[tool.x]\ny = 1\n")
	if err != nil || needs != ">=3.9" || len(extras) != 1 || extras[0].name != "arrow" || !slices.Equal(extras[0].requires,
		[]string{"pyarrow>=14", "numpy"}) {
		t.Error(needs, extras, err)
	}
	for _, text := range []string{"", head + "arrow = [\n", head + "arrow = ['a']\n", head + "arrow = 1\n", head[:26]} {
		if _, _, err := readProject(text); err == nil {
			t.Errorf("%q is no error", text)
		}
	}
}

// TestFormula: the formula has every archive for macOS and Linux, with its checksum.
func TestFormula(t *testing.T) {
	sums := filepath.Join(t.TempDir(), "SHA256SUMS")
	var list, b strings.Builder
	for i, name := range []string{"darwin_arm64.tar.gz", "linux_amd64.tar.gz", "linux_arm64.tar.gz", "windows_amd64.zip"} {
		fmt.Fprintf(&list, "%064d  bagconv_1.2.3_%s\n", i, name)
	}
	if err := os.WriteFile(sums, []byte(list.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := writeFormula(&b, "1.2.3", sums); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		`on_macos do on_arm do url "` + home + `/releases/download/v1.2.3/bagconv_1.2.3_darwin_arm64.tar.gz" sha256 "` +
			strings.Repeat("0", 64) + `" end end`,
		`on_linux do on_arm do url`, `bagconv_1.2.3_linux_amd64.tar.gz" sha256 "` + strings.Repeat("0", 63) + `1" end end`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the formula does not have %q:\n%s", want, b.String())
		}
	}
	if n := strings.Count(text, "url "); n != 3 || strings.Contains(text, "windows") {
		t.Errorf("the formula has %d archives:\n%s", n, b.String())
	}
	if err := writeFormula(io.Discard, "9.9.9", sums); err == nil {
		t.Error("a formula without archives")
	}
	t.Run("ruby", func(t *testing.T) {
		ruby, err := exec.LookPath("ruby")
		if err != nil {
			missing(t, "no ruby")
		}
		path := filepath.Join(t.TempDir(), "bagconv.rb")
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		command(t, ruby, "-wc", path)
	})
}

// filesOf returns what the files of a folder hold, by their names.
func filesOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}
