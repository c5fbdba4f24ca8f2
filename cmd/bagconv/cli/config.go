package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"gopkg.in/yaml.v3"
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

// configFlags name a file of flags, and print one.
func configFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "config", Usage: "a file with flags"},
		&cli.BoolFlag{Name: "print-config", Usage: "print the flags as such a file, and do nothing else"},
	}
}

// configurable gives a command that writes recordings configFlags, and makes it
// heed them before it runs.
func (e *env) configurable(c *cli.Command) {
	if !slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return f.Names()[0] == "force" }) {
		return
	}
	c.Flags = slices.Concat(c.Flags, configFlags())
	flags, action := c.Flags, c.Action
	c.Action = func(ctx *cli.Context) error {
		if path := ctx.String("config"); ctx.IsSet("config") {
			if err := applyConfig(ctx, path, flags); err != nil {
				return usage("see: bagconv help "+c.Name, "--config %s: %v", clean(path), err)
			}
		}
		if ctx.Bool("print-config") {
			return writeConfig(e.Out, ctx, flags)
		}
		e.report.path, e.report.json = ctx.String("report"), ctx.Bool("json")
		return action(ctx)
	}
}

// applyConfig sets the flags that a file names and the line does not.
func applyConfig(ctx *cli.Context, path string, flags []cli.Flag) error {
	root, err := readConfig(path)
	if err != nil || root == nil {
		return err
	}
	byName := map[string]cli.Flag{}
	var names []string
	for _, f := range flags {
		for _, name := range f.Names() {
			byName[name] = f
			names = append(names, name)
		}
	}
	given := map[cli.Flag]string{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		f := byName[key.Value]
		switch {
		case f == nil:
			err := fmt.Errorf("line %d: %s is no flag of %s", key.Line, clean(key.Value), ctx.Command.Name)
			if near := nearest(strings.TrimLeft(key.Value, "-"), names); near != "" {
				err = fmt.Errorf("%w; did you mean %s?", err, near)
			}
			return err
		case f.Names()[0] == "config" || f.Names()[0] == "print-config":
			return fmt.Errorf("line %d: %s belongs on the line", key.Line, key.Value)
		case given[f] != "":
			return fmt.Errorf("line %d: %s and %s are the same flag", key.Line, given[f], key.Value)
		}
		given[f] = key.Value
		texts, err := configValues(f, value)
		if err != nil {
			return fmt.Errorf("line %d: %s %w", key.Line, key.Value, err)
		}
		if slices.ContainsFunc(f.Names(), ctx.IsSet) {
			continue // the line wins
		}
		if err := setFlag(ctx, f, texts); err != nil {
			return fmt.Errorf("line %d: %s: %w", key.Line, key.Value, err)
		}
	}
	return nil
}

// readConfig returns the mapping that a file holds, nil when it holds nothing.
func readConfig(path string) (*yaml.Node, error) {
	text, err := readSome(path, maxConfig)
	if err != nil {
		return nil, plainError(err)
	}
	if len(text) > maxConfig {
		return nil, fmt.Errorf("it has more than %s, and is no list of flags", count(maxConfig, "byte"))
	}
	return parseConfig(text)
}

// readSome reads a file that should have at most so many bytes, and one more when
// it has more, so that the caller can tell: a device may have no end.
func readSome(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

// parseConfig returns the mapping of a text, nil when it is empty.
func parseConfig(text []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	var doc, more yaml.Node
	switch err := decoder.Decode(&doc); {
	case err == io.EOF:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("it is no YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := decoder.Decode(&more); err != io.EOF {
		return nil, errors.New("it has more than one document")
	}
	root := doc.Content[0]
	switch {
	case root.Kind == yaml.ScalarNode && root.Tag == "!!null":
		return nil, nil
	case root.Kind != yaml.MappingNode:
		return nil, errors.New("it is no mapping of flags to values, such as compression: lz4")
	}
	return root, nil
}

// plainError is what went wrong with a file, without its name.
func plainError(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// configValues returns the values of a flag, as they would stand on the line.
func configValues(f cli.Flag, value *yaml.Node) ([]string, error) {
	items := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		if _, several := f.(*cli.StringSliceFlag); !several {
			return nil, errors.New("takes one value, not a list")
		}
		items = value.Content
	}
	var texts []string
	for _, item := range items {
		if item.Kind == yaml.AliasNode {
			item = item.Alias
		}
		if item.Kind != yaml.ScalarNode {
			return nil, errors.New("takes text, a number, true or false")
		}
		if item.Tag == "!!null" {
			return nil, errors.New("has no value")
		}
		text := item.Value // as it is written: 4M, -30s, 2024-05-01T12:00:00Z
		if _, isBool := f.(*cli.BoolFlag); isBool {
			var b bool
			if item.Decode(&b) != nil { // yes and no as well
				return nil, fmt.Errorf("is true or false, not %q", text)
			}
			text = fmt.Sprint(b)
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// setFlag gives a flag its values, under each of its names.
func setFlag(ctx *cli.Context, f cli.Flag, texts []string) error {
	names := f.Names()
	if _, several := f.(*cli.StringSliceFlag); several {
		names = names[:1] // the names share one list
	}
	for _, name := range names {
		for _, text := range texts {
			if err := ctx.Set(name, text); err != nil {
				return fmt.Errorf("%q is no whole number", text) // the only values that are parsed here
			}
		}
	}
	return nil
}

// writeConfig prints the flags in force: those that are set as a file that
// --config reads, the defaults of the others as comments.
func writeConfig(w io.Writer, ctx *cli.Context, flags []cli.Flag) error {
	set, defaults := &yaml.Node{Kind: yaml.MappingNode}, ""
	for _, f := range flags {
		name := slices.MaxFunc(f.Names(), func(a, b string) int { return len(a) - len(b) })
		if name == "config" || name == "print-config" {
			continue
		}
		var v any = ctx.StringSlice(f.Names()[0])
		if _, several := f.(*cli.StringSliceFlag); !several {
			v = ctx.Value(name)
		}
		if !slices.ContainsFunc(f.Names(), ctx.IsSet) {
			if text, ok := v.(string); ok && text != "" {
				defaults += fmt.Sprintf("# %s: %s\n", name, text)
			}
			continue
		}
		value := &yaml.Node{}
		if err := value.Encode(v); err != nil {
			return err
		}
		set.Content = append(set.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, value)
	}
	var text []byte
	if len(set.Content) > 0 {
		var err error
		if text, err = yaml.Marshal(set); err != nil {
			return err
		}
	}
	if defaults != "" {
		defaults = "# defaults:\n" + defaults
	}
	_, err := fmt.Fprintf(w, "# bagconv %s\n%s%s", ctx.Command.Name, text, defaults)
	return err
}
