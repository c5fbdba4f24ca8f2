package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestRelease builds a release for this machine, and installs and removes its packages.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program as a release has it")
	}
	if runtime.GOOS != "linux" || wheelTags[runtime.GOOS+"/"+runtime.GOARCH] == nil {
		t.Skip("there are no packages for this system")
	}
	out := t.TempDir()
	build := exec.Command("../release", "1.2.3")
	build.Env = append(os.Environ(), "DIST="+out, "TARGETS=linux/"+runtime.GOARCH, "SOURCE_DATE_EPOCH=1700000000")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("scripts/release: %v\n%s", err, text)
	}
	names := map[string]string{} // by ending, of the first build
	for name := range filesOf(t, out) {
		if !strings.Contains(name, "clouds") {
			names[filepath.Ext(name)] = filepath.Join(out, name)
		}
	}
	command(t, "sh", "-c", `cd "$1" && sha256sum -c --strict SHA256SUMS`, "sh", out)
	for _, ending := range []string{".gz", ".json", ".rb", ".deb", ".rpm", ".whl", ".tar"} {
		if names[ending] == "" {
			t.Fatalf("the release has no file with the ending %s: %v", ending, names)
		}
	}
	demo, err := filepath.Abs("../../testdata/demo.bag")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("again", func(t *testing.T) { testAgain(t, names[".gz"], names[".deb"], names[".rpm"]) })
	t.Run("sbom", func(t *testing.T) { testSBOM(t, names[".json"]) })
	t.Run("wheel", func(t *testing.T) { testWheel(t, names[".whl"], demo) })
	t.Run("deb", func(t *testing.T) { testDeb(t, names[".deb"], demo) })
	t.Run("rpm", func(t *testing.T) { testRPM(t, names[".rpm"], demo) })
	t.Run("image", func(t *testing.T) { testImage(t, names[".tar"], demo) })
}

// testAgain makes the packages of an archive once more, later and in another folder: they have the same bytes.
func testAgain(t *testing.T, archive, deb, rpm string) {
	folder, out := t.TempDir(), t.TempDir()
	command(t, "tar", "-xzf", archive, "-C", folder, "--strip-components=1", "--touch")
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	command(t, "../packages", out, folder, "1.2.3", runtime.GOARCH)
	made := filesOf(t, out)
	if len(made) != 2 {
		t.Errorf("made %v", slices.Sorted(maps.Keys(made)))
	}
	for _, path := range []string{deb, rpm} {
		want, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(made[filepath.Base(path)], want) {
			t.Errorf("%s: two runs differ: %v", path, err)
		}
	}
}

// testSBOM: the list has the program, the standard library, its modules and uPlot, and nothing of the machine
// that made it.
func testSBOM(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Metadata struct {
			Timestamp string
			Component struct{ Name, Version string }
			Tools     []struct {
				Name   string
				Hashes []any
			}
		}
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	about := list.Metadata
	if about.Component.Name != "github.com/bagconv/bagconv" || about.Component.Version != "v1.2.3" ||
		about.Timestamp != "" || len(about.Tools) != 1 || about.Tools[0].Hashes != nil {
		t.Errorf("metadata %+v", about)
	}
	names := map[string]bool{}
	for _, c := range list.Components {
		names[c.Name] = c.Version != ""
	}
	if !names["std"] || !names["modernc.org/sqlite"] || !names["google.golang.org/protobuf"] || !names["uplot"] {
		t.Errorf("components %v", names)
	}
}

// testWheel installs a wheel into a clean virtual environment.
func testWheel(t *testing.T, wheel, demo string) {
	python := ""
	for _, p := range []string{os.Getenv("BAGCONV_ROSBAGS_PYTHON"), "python3"} {
		if python == "" && p != "" && exec.Command(p, "-m", "pip", "--version").Run() == nil {
			python = p
		}
	}
	if python == "" {
		missing(t, "no python with pip")
	}
	env := filepath.Join(t.TempDir(), "env")
	command(t, python, "-m", "venv", "--without-pip", env)
	pip := []string{"-m", "pip", "--python", filepath.Join(env, "bin", "python"), "--disable-pip-version-check"}
	command(t, python, append(pip, "install", "--no-index", wheel)...)
	converts(t, filepath.Join(env, "bin", "bagconv"), demo)
	inside := filepath.Join(env, "bin", "python")
	finds(t, filepath.Join(env, "bin", "bagconv"), inside)
	if text := command(t, inside, "-m", "bagconv", "version"); !strings.HasPrefix(text, "bagconv 1.2.3 ") {
		t.Errorf("python -m bagconv version: %s", text)
	}
	command(t, python, append(pip, "uninstall", "--yes", "bagconv")...)
	if left, _ := filepath.Glob(filepath.Join(env, "*", "*bagconv*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
	target, prefix := filepath.Join(t.TempDir(), "target"), filepath.Join(t.TempDir(), "prefix")
	command(t, python, append(pip, "install", "--no-index", "--target", target, wheel)...)
	finds(t, filepath.Join(target, "bin", "bagconv"), "env", "PYTHONPATH="+target, inside)
	command(t, python, append(pip, "install", "--no-index", "--prefix", prefix, wheel)...)
	sites, err := filepath.Glob(filepath.Join(prefix, "lib", "*", "site-packages"))
	if err != nil || len(sites) != 1 {
		t.Fatal(sites, err)
	}
	finds(t, filepath.Join(prefix, "bin", "bagconv"), "env", "PYTHONPATH="+sites[0], inside)
}

// finds fails if the package that a Python imports has another version, or finds another program.
func finds(t *testing.T, program string, python ...string) {
	t.Helper()
	t.Setenv("BAGCONV", "")
	code := append(python[1:], "-c", "import bagconv; print(bagconv.__version__, bagconv.find())")
	if text := command(t, python[0], code...); text != "1.2.3 "+program+"\n" {
		t.Errorf("version and program are %s, want %s", text, program)
	}
}

// testDeb installs a .deb into an empty root, and removes it.
func testDeb(t *testing.T, deb, demo string) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		missing(t, "no dpkg")
	}
	if os.Getuid() != 0 {
		t.Skip("dpkg installs for root only")
	}
	root := t.TempDir()
	for _, dir := range []string{"info", "updates"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	dpkg := []string{"--root=" + root, "--log=/dev/null"}
	command(t, "dpkg", append(dpkg, "--install", deb)...)
	if text := command(t, "dpkg", append(dpkg, "--verify", "bagconv")...); text != "" {
		t.Errorf("dpkg --verify: %s", text)
	}
	installed(t, root, demo, "usr/share/zsh/vendor-completions/_bagconv")
	command(t, "dpkg", append(dpkg, "--purge", "bagconv")...)
	removed(t, root)
}

// testRPM lists an .rpm by rpm itself, and as root installs it into an empty root and removes it.
func testRPM(t *testing.T, rpm, demo string) {
	if _, err := exec.LookPath("rpm"); err != nil {
		missing(t, "no rpm")
	}
	command(t, "rpm", "--checksig", "--nosignature", rpm)
	list := command(t, "rpm", "--query", "--list", "--package", rpm)
	for _, path := range []string{"/usr/bin/bagconv\n", "/usr/share/man/man1/bagconv.1.gz\n",
		"/usr/share/zsh/site-functions/_bagconv\n"} {
		if !strings.Contains(list, path) {
			t.Errorf("the package does not have %s:\n%s", path, list)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("rpm installs for root only")
	}
	root := t.TempDir()
	command(t, "rpm", "--root", root, "--install", rpm)
	if text := command(t, "rpm", "--root", root, "--verify", "bagconv"); text != "" {
		t.Errorf("rpm --verify: %s", text)
	}
	installed(t, root, demo, "usr/share/zsh/site-functions/_bagconv")
	command(t, "rpm", "--root", root, "--erase", "bagconv")
	removed(t, root)
}

// testImage loads an image with buildah, and looks at what it has and how it starts.
func testImage(t *testing.T, image, demo string) {
	if _, err := exec.LookPath("buildah"); err != nil {
		missing(t, "no buildah")
	}
	if os.Getuid() != 0 {
		t.Skip("buildah mounts for root only")
	}
	dir := t.TempDir()
	buildah := []string{"--root", filepath.Join(dir, "store"), "--runroot", filepath.Join(dir, "run"), "--storage-driver",
		"vfs"}
	run := func(args ...string) string {
		return strings.TrimSpace(command(t, "buildah", append(buildah, args...)...))
	}
	container := run("from", "docker-archive:"+image)
	start := run("inspect", "--format",
		"{{.FromImage}} {{.OCIv1.Architecture}} {{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.WorkingDir}}", container)
	if want := "localhost/bagconv:1.2.3 " + runtime.GOARCH + " [/bagconv] /data"; start != want {
		t.Errorf("the image is %s, want %s", start, want)
	}
	root := run("mount", container)
	files, err := filepath.Glob(filepath.Join(root, "*"))
	if err != nil || len(files) != 3 {
		t.Errorf("the image has %v, %v", files, err)
	}
	if st, err := os.Stat(filepath.Join(root, "tmp")); err != nil || st.Mode() != os.ModeDir|os.ModeSticky|0o777 {
		t.Errorf("/tmp: %v, %v", st, err)
	}
	converts(t, filepath.Join(root, "bagconv"), demo)
	run("rm", container)
	run("rmi", "--all")
}

// installed tries what a package has put into a root.
func installed(t *testing.T, root, demo, zsh string) {
	t.Helper()
	for _, name := range []string{
		"usr/share/man/man1/bagconv.1.gz", "usr/share/bash-completion/completions/bagconv",
		"usr/share/fish/vendor_completions.d/bagconv.fish", zsh,
	} {
		if st, err := os.Stat(filepath.Join(root, name)); err != nil || st.Size() < 100 || st.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v, %v", name, st, err)
		}
	}
	converts(t, filepath.Join(root, "usr/bin/bagconv"), demo)
}

// removed fails if something of the package is left in a root.
func removed(t *testing.T, root string) {
	t.Helper()
	for _, pattern := range []string{"usr/bin/*", "usr/share/*/*bagconv*", "usr/share/*/*/*bagconv*"} {
		if left, _ := filepath.Glob(filepath.Join(root, pattern)); left != nil {
			t.Errorf("left behind: %v", left)
		}
	}
}

// converts runs an installed bagconv.
func converts(t *testing.T, program, demo string) {
	t.Helper()
	if text := command(t, program, "version"); !strings.HasPrefix(text, "bagconv 1.2.3 ") {
		t.Errorf("version: %s", text)
	}
	out := filepath.Join(t.TempDir(), "out")
	command(t, program, demo, out+"/", "--quiet", "--verify", "content")
	if text := command(t, program, "info", "--key", "messages", out); text != "636\n" {
		t.Errorf("%s messages were converted", text)
	}
}

// command runs a program that must succeed, and returns its standard output.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	var errors strings.Builder
	c := exec.Command(name, args...)
	c.Stderr = &errors
	text, err := c.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s%s", name, args, err, text, errors.String())
	}
	return string(text)
}

// missing skips a test that needs a program, and fails in CI, which has all of them.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s: .ci/run installs it", what)
	}
	t.Skip(what)
}
