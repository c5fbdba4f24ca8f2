package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/yaml"
	"github.com/bagconv/bagconv/storage"
)

// aboutFlags change what an output has about its topics and about itself.
func (s *settings) aboutFlags() []flags.Flag {
	return flags.AllIn(outputGroup, makes+" export batch plan import",
		flags.Flag{Name: "qos", Arg: "TOPIC:POLICIES|FILE", Kind: flags.Topic, Suffix: ":", Several: true,
			Set: flags.ParsedEach(&s.job.Edit.QoS, s.parseQoS),
			Help: "change QoS of topics of IN: reliable, best_effort, transient_local, depth=10, deadline=100ms and others, " +
				"with commas between; or a YAML file with a profile, or with overrides for the ROS 2 recorder; repeat the flag " +
				"for more topics"},
		flags.Flag{Name: "custom-data", Arg: "KEY=VALUE", Several: true, Set: flags.ParsedEach(&s.custom, parseCustom),
			Help: "add a value to the metadata of OUT, as the ROS 2 recorder does; repeat the flag for more values"},
	)
}

const qosHint = "type for example --qos /scan:best_effort,depth=5 or --qos /scan:FILE"

// parseQoS reads TOPIC:POLICIES or TOPIC:FILE.
func (s *settings) parseQoS(text string) (p selection.Profile, err error) {
	topic, value, ok := strings.Cut(text, ":")
	if topic == "re" { // a pattern
		var rest string
		if rest, value, ok = cutLast(value, ":"); ok {
			topic += ":" + rest
		}
	}
	if !ok || topic == "" || value == "" {
		return p, flags.Usage(qosHint, "--qos: %q does not have the form TOPIC:POLICIES", text)
	}
	settings := strings.Split(value, ",")
	q := storage.QoS{}
	for _, policy := range settings {
		if err = q.Set(policy); err != nil {
			break
		}
	}
	if err != nil {
		file, ferr := os.ReadFile(value)
		if ferr != nil {
			return p, flags.Usage(qosHint, "--qos: %v, and there is no file %q", err, value)
		}
		s.named = append(s.named, file)
		if settings, err = fileQoS(file, topic); err != nil {
			return p, flags.Usage("write the keys of a profile, such as reliability: reliable, or names of topics with such "+
				"keys below them", "--qos: %s: %v", value, err)
		}
	}
	if p, err = selection.NewProfile(topic, settings); err != nil {
		return p, flags.Usage(qosHint, "--qos %s: %v", text, err)
	}
	return p, nil
}

// fileQoS returns the policies that a YAML file has for a topic: under its name, or as a
// whole.
func fileQoS(text []byte, topic string) (settings []string, err error) {
	var all map[string]any
	if err := yaml.Decode(text, &all); err != nil {
		return nil, err
	}
	if own, ok := all[topic].(map[string]any); ok {
		all = own
	}
	for key, value := range all {
		if d, ok := value.(map[string]any); ok {
			value = fmt.Sprintf("%vs%vns", orZero(d["sec"]), orZero(d["nsec"]))
		}
		settings = append(settings, fmt.Sprintf("%s=%v", key, value))
	}
	return settings, nil
}

func orZero(v any) any {
	if v == nil {
		return 0
	}
	return v
}

// parseCustom reads KEY=VALUE.
func parseCustom(text string) ([2]string, error) {
	key, value, ok := strings.Cut(text, "=")
	switch {
	case !ok || key == "":
		return [2]string{}, flags.Usage("type for example --custom-data robot=r2",
			"--custom-data: %q does not have the form KEY=VALUE", text)
	case key == storage.MetaDistro:
		return [2]string{}, flags.Usage("--distro chooses the distribution", "--custom-data: the key %s is reserved", key)
	}
	return [2]string{key, value}, nil
}

// setAbout takes the values of aboutFlags for an output.
func (s *settings) setAbout(job *convert.Job) error {
	sink := job.SinkFormat
	if len(job.Edit.QoS) > 0 && !sink.Holds.QoS {
		return flags.Usage("omit it", "--qos: a %s cannot store QoS profiles", sink.Name)
	}
	for _, c := range s.custom {
		if !sink.Holds.KeepsMetadata(c[0]) {
			return flags.Usage("omit it", "--custom-data: a %s has no place for %s", sink.Name, phrase.Clean(c[0]))
		}
		if job.Custom == nil {
			job.Custom = map[string]string{}
		}
		job.Custom[c[0]] = c[1]
	}
	return nil
}
