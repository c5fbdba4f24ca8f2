package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/nearest"
	"github.com/bagconv/bagconv/internal/remote"
	"github.com/bagconv/bagconv/internal/yaml"
	"github.com/bagconv/bagconv/storage"
)

// A file of --config is YAML: one mapping from names of flags, without dashes,
// to their values. A flag that may be given several times takes a list.
//
//	topic: [/imu, "/camera/*"]
//	start: 1m30s
//	compression: lz4
//	force: true

// maxConfig is how large a file of --config may be, in bytes.
const maxConfig = 1 << 20

// applyConfig sets the flags that a file names and the line does not.
func applyConfig(c *flags.Command, fsys storage.FS, path string) error {
	root, err := readConfig(fsys, path)
	if err != nil || root == nil {
		return err
	}
	spelling := map[*flags.Flag]string{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		f := c.Flag(key.Value)
		switch {
		case f == nil:
			err := fmt.Errorf("line %d: %s is not a flag of %s", key.Line, phrase.Clean(key.Value), c.Name)
			if near := nearest.Word(strings.TrimLeft(key.Value, "-"), c.FlagNames()); near != "" {
				err = fmt.Errorf("%w; did you mean %s?", err, near)
			}
			return err
		case f.LineOnly:
			return fmt.Errorf("line %d: %s is allowed only on the command line", key.Line, key.Value)
		case spelling[f] != "":
			return fmt.Errorf("line %d: %s and %s are the same flag", key.Line, spelling[f], key.Value)
		}
		spelling[f] = key.Value
		texts, err := configValues(f, value)
		if err != nil {
			return fmt.Errorf("line %d: %s%w", key.Line, key.Value, err)
		}
		if f.IsSet() {
			continue // the line wins
		}
		for _, text := range texts {
			f.Add(text)
		}
	}
	return nil
}

// readConfig returns the mapping that a file holds, nil when it holds nothing.
func readConfig(fsys storage.FS, path string) (*yaml.Node, error) {
	text, err := readSome(fsys, path, maxConfig)
	if err != nil {
		return nil, plainError(err)
	}
	if len(text) > maxConfig {
		return nil, fmt.Errorf("it has more than %s, which is too large for a list of flags", phrase.Count(maxConfig, "byte"))
	}
	return parseConfig(text)
}

// readSome reads a file of fsys that should have at most so many bytes, and one more when
// it has more, so that the caller notices: a device may have no end.
func readSome(fsys storage.FS, path string, limit int64) ([]byte, error) {
	var f io.ReadCloser
	var err error
	if iox.IsURL(path) {
		f, err = fsys.Open(path)
	} else {
		f, err = os.Open(path) // which may be a pipe
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, limit+1))
}

// parseConfig returns the mapping of a text, nil when it is empty.
func parseConfig(text []byte) (*yaml.Node, error) {
	root, err := yaml.ParseOne(text)
	switch {
	case errors.Is(err, yaml.ErrSeveral):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("it is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	case root == nil:
		return nil, nil
	case root.Kind == yaml.ScalarNode && root.Tag == "!!null":
		return nil, nil
	case root.Kind != yaml.MappingNode:
		return nil, errors.New("it is not a mapping of flags to values, such as compression: lz4")
	}
	return root, nil
}

// plainError returns what went wrong with a file, without its name.
func plainError(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// configValues returns the values of a flag, as they would stand on the line. Errors
// follow its name.
func configValues(f *flags.Flag, value *yaml.Node) ([]string, error) {
	items := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		if !f.Several && f.Second == "" {
			return nil, errors.New(" takes one value, not a list")
		}
		items = value.Content
	}
	var texts []string
	for _, item := range items {
		if item.Kind == yaml.AliasNode {
			item = item.Alias
		}
		if item.Kind != yaml.ScalarNode {
			return nil, errors.New(" takes text, a number, true or false")
		}
		if item.Tag == "!!null" {
			return nil, errors.New(" has no value")
		}
		text := item.Value // as it is written: 4M, -30s, 2024-05-01T12:00:00Z
		var b bool
		switch {
		case f.Kind == flags.OnOff && item.Decode(&b) != nil: // yes and no as well
			return nil, fmt.Errorf(" must be true or false, not %q", text)
		case f.Kind == flags.OnOff:
			text = fmt.Sprint(b)
		case !f.Takes(text):
			return nil, fmt.Errorf(": %q is not a whole number", text) // the only kind in such files that is not text
		}
		if text, err := remote.Name(text); err != nil {
			return nil, fmt.Errorf(": %w", err)
		} else {
			texts = append(texts, text)
		}
	}
	return texts, nil
}
