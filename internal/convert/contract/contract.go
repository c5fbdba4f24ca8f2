// Package contract reads and writes contracts, in YAML: what a recording must have. Package check compares a recording
// with a contract. Contracts and functions may be used concurrently.
package contract

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/yaml"

	"github.com/bagconv/bagconv/internal/convert/selection"
)

// A Contract describes what a recording must have. It is written in YAML:
//
//	contract: 1
//	duration: {min: 30s, max: 10m}
//	size: {max: 2GB}
//	messages: {min: 1000}
//	other_topics: false
//	topics:
//	  /imu:
//	    type: sensor_msgs/Imu
//	    rate: {min: 95, max: 105}
//	    max_gap: 50ms
//	    max_edge: 2s
//	    count: {min: 100}
//	  /camera/*/image: {optional: true}
//	  /debug/*: {absent: true}
//
// A topic's name may be a pattern (selection.Pattern): each topic that it
// matches must keep the rule. docs/check.md explains the keys. A Contract is not
// changed after it was made.
type Contract struct {
	Version     int              `yaml:"contract"`
	Duration    *Range[Duration] `yaml:"duration,omitempty,flow"`
	Size        *Range[Size]     `yaml:"size,omitempty,flow"`
	Messages    *Range[int64]    `yaml:"messages,omitempty,flow"`
	OtherTopics *bool            `yaml:"other_topics,omitempty"` // false: no topics but the topics that a rule matches
	Topics      map[string]*Rule `yaml:"topics,omitempty"`       // nil: the topic must be there, and nothing else
}

// A Rule describes what a topic must be like.
type Rule struct {
	Absent   bool            `yaml:"absent,omitempty"`   // no such topic
	Optional bool            `yaml:"optional,omitempty"` // it need not be there
	Type     Types           `yaml:"type,omitempty"`
	Rate     *Range[float64] `yaml:"rate,omitempty,flow"` // mean, Hz
	MaxGap   Duration        `yaml:"max_gap,omitempty"`   // between two messages
	// from the recording's start to its first message, and from its last to the end
	MaxEdge Duration      `yaml:"max_edge,omitempty"`
	Count   *Range[int64] `yaml:"count,omitempty,flow"`
}

// A Range is what a value may be; nil is no limit.
type Range[T int64 | float64 | Duration | Size] struct {
	Min *T `yaml:"min,omitempty"`
	Max *T `yaml:"max,omitempty"`
}

// MaxSize bounds the text of a contract, bytes.
const MaxSize = 4 << 20

// Version is the version of contracts that are read and written.
const Version = 1

// Parse reads a contract. Errors name the line or the topic, and what is
// wrong there.
func Parse(text []byte) (*Contract, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("a contract of more than %d bytes is not read", MaxSize)
	}
	c := &Contract{}
	switch err := yaml.Decode(text, c); {
	case err == io.EOF:
		return nil, errors.New("it is empty; bagconv check --make-spec writes one")
	case errors.Is(err, yaml.ErrSeveral):
		return nil, errors.New("there is a second document after the contract (---)")
	case err != nil:
		return nil, errors.New(plainYAML(err))
	}
	if c.Version == 0 {
		return nil, fmt.Errorf("it does not begin with contract: %d", Version)
	}
	if c.Version != Version {
		return nil, fmt.Errorf("it has contract: %d, but only contract: %d is supported", c.Version, Version)
	}
	return c, c.validate()
}

// yamlMismatch is how the YAML package reports a value of another kind.
var yamlMismatch = regexp.MustCompile("cannot unmarshal (!![a-z]+)( `[^`]*`)?")

var yamlKinds = map[string]string{"!!str": "the text", "!!seq": "a list", "!!map": "a mapping", "!!int": "the number",
	"!!float": "the number", "!!bool": "the word", "!!null": "nothing"}

// plainYAML returns the error of the YAML package without the names of our types.
func plainYAML(err error) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = strings.TrimSpace(strings.TrimPrefix(text, "unmarshal errors:"))
	var lines []string
	for _, l := range strings.Split(text, "\n") {
		l, _, _ = strings.Cut(strings.TrimSpace(l), " in type ")
		l, _, _ = strings.Cut(l, " into ")
		l = yamlMismatch.ReplaceAllStringFunc(l, func(s string) string {
			m := yamlMismatch.FindStringSubmatch(s)
			return yamlKinds[m[1]] + m[2] + " does not belong here"
		})
		lines = append(lines, strings.Replace(l, "field ", "unknown key ", 1))
	}
	return strings.ReplaceAll(strings.Join(lines, "; "), " not found", "")
}

func (c *Contract) validate() error {
	if err := errors.Join(c.Duration.validate("duration"), c.Size.validate("size"),
		c.Messages.validate("messages")); err != nil {
		return err
	}
	for _, name := range c.Names() {
		if _, err := selection.ParsePattern(name); err != nil {
			return fmt.Errorf("topic %s: %w", name, err)
		}
		r := c.Topics[name]
		if r == nil {
			continue
		}
		var err error
		for _, typ := range r.Type {
			if _, bad := selection.ParsePattern(typ); bad != nil {
				err = errors.Join(err, fmt.Errorf("type: %w", bad))
			}
		}
		if r.Absent && (r.Optional || r.MaxGap != 0 || r.MaxEdge != 0 || r.Count != nil || r.Rate != nil || r.Type != nil) {
			err = errors.Join(err, errors.New("absent allows no other key"))
		}
		if err = errors.Join(err, r.Rate.validate("rate"), r.Count.validate("count")); err != nil {
			return fmt.Errorf("topic %s: %w", name, err)
		}
	}
	return nil
}

// Names lists the names and patterns of the rules in alphabetical order.
func (c *Contract) Names() []string {
	var names []string
	for name := range c.Topics {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (r *Range[T]) validate(key string) error {
	var zero T
	switch {
	case r == nil:
	case r.Min == nil && r.Max == nil:
		return fmt.Errorf("%s: write {min: ...}, {max: ...} or both", key)
	case r.Min != nil && !(*r.Min >= zero), r.Max != nil && !(*r.Max >= zero):
		return fmt.Errorf("%s: a limit below 0", key)
	case r.Min != nil && r.Max != nil && *r.Min > *r.Max:
		return fmt.Errorf("%s: min is more than max", key)
	}
	return nil
}

// Outside returns how a value breaks the range: "less than 95", "more than 105",
// "" when it does not.
func (r *Range[T]) Outside(v T) string {
	switch {
	case r == nil:
	case r.Min != nil && v < *r.Min:
		return fmt.Sprintf("less than %v", *r.Min)
	case r.Max != nil && v > *r.Max:
		return fmt.Sprintf("more than %v", *r.Max)
	}
	return ""
}

// Format writes the contract as YAML.
func (c *Contract) Format() ([]byte, error) { return yaml.MarshalNarrow(c) }
