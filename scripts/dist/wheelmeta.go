package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// wheelExample is what pages of packages show.
const wheelExample = "```python\n" +
	"import bagconv\n\n" +
	"rec = bagconv.open(\"drive.bag\")                  # any format, folder, https:// or s3://\n" +
	"rec[\"/imu/data\"].polars()                      # a topic as a table\n" +
	"for frame in rec[\"/camera/image\"].images(): ... # (H, W, 3) arrays\n" +
	"bagconv.convert(\"drive.bag\", \"drive.mcap\")\n" +
	"```\n\n" +
	"```sh\n" +
	"pip install 'bagconv[arrow]'       # or [polars], [pandas]; without them convert, verify, check\n" +
	"uvx bagconv drive.bag drive_ros2/  # the program alone\n" +
	"```\n"

// wheelMetadata returns the METADATA of a wheel ("Core metadata specifications", 2.1). Which Python it needs
// and which extras it has comes from pyproject.toml.
func wheelMetadata(pyproject, version string) ([]byte, error) {
	text, err := os.ReadFile(pyproject)
	if err != nil {
		return nil, err
	}
	needs, extras, err := readProject(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pyproject, err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "Metadata-Version: 2.1\nName: bagconv\nVersion: %s\nSummary: %s\nHome-page: %s\n", version, summary,
		home)
	fmt.Fprintf(&b, "Requires-Python: %s\nDescription-Content-Type: text/markdown\n", needs)
	for _, e := range extras {
		fmt.Fprintf(&b, "Provides-Extra: %s\n", e.name)
		for _, r := range e.requires {
			fmt.Fprintf(&b, "Requires-Dist: %s; extra == '%s'\n", r, e.name)
		}
	}
	fmt.Fprintf(&b, "\n%s\n\n%s", about, wheelExample)
	return b.Bytes(), nil
}

// An extra is a name in brackets behind bagconv, and the packages that pip installs for it.
type extra struct {
	name     string
	requires []string
}

var (
	projectNeeds = regexp.MustCompile(`(?m)^requires-python = "([^"]+)"$`)
	projectExtra = regexp.MustCompile(`^([a-z]+) = (\[.*\])$`)
)

// readProject returns requires-python and the extras of a pyproject.toml that has an extra a line.
func readProject(text string) (needs string, extras []extra, err error) {
	m := projectNeeds.FindStringSubmatch(text)
	_, section, found := strings.Cut(text, "[project.optional-dependencies]\n")
	if m == nil || !found {
		return "", nil, fmt.Errorf("it has no requires-python, or no optional dependencies")
	}
	section, _, _ = strings.Cut(section, "\n[")
	for line := range strings.Lines(section) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		e := projectExtra.FindStringSubmatch(line)
		if e == nil {
			return "", nil, fmt.Errorf("%q is not an extra in one line", line)
		}
		x := extra{name: e[1]}
		if err := json.Unmarshal([]byte(e[2]), &x.requires); err != nil {
			return "", nil, fmt.Errorf("%q: %w", line, err)
		}
		extras = append(extras, x)
	}
	return m[1], extras, nil
}
