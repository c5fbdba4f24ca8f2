package check_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/storage"
)

func parse(t testing.TB, text string) *check.Contract {
	t.Helper()
	c, err := check.ParseContract([]byte("contract: 1\n" + text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return c
}

// TestContract breaks each key once, and keeps it once. The recording has 300
// messages of /imu in 2.99 s.
func TestContract(t *testing.T) {
	f, _ := regular()
	f.info.Size = 4096
	f.topic(sensor("/silent"))
	for text, want := range map[string]string{
		"duration: {min: 3s}":     "spec-duration ",
		"duration: {max: 2.9s}":   "spec-duration ",
		"duration: {min: 2990ms}": "", "duration: {max: 2990ms}": "",
		"size: {max: 4K}": "", "size: {max: 4KB}": "spec-size ", "size: {min: 4097}": "spec-size ",
		"messages: {min: 300, max: 300}": "", "messages: {min: 301}": "spec-messages ",
		"other_topics: true": "", "other_topics: false": "spec-topic-other /imu,spec-topic-other /silent",
		"other_topics: false\ntopics: {/imu: , /s*: }":       "",
		"topics: {/gone: }":                                  "spec-topic-missing /gone",
		"topics: {/gone: {optional: true, count: {min: 1}}}": "",
		"topics: {/imu: {absent: true}}":                     "spec-topic-forbidden /imu",
		"topics: {/silent: {absent: true}}":                  "spec-topic-forbidden /silent",
		"topics: {/gone: {absent: true}}":                    "",
		"topics: {'*': {absent: true}}": "spec-topic-forbidden " +
			"/imu,spec-topic-forbidden /silent",
		"topics: {'re:/i.u': {count: {max: 3}}}":                             "spec-count /imu",
		"topics: {/imu: {type: acme_msgs/msg/Value}}":                        "",
		"topics: {/imu: {type: [x/Y, acme_msgs/V*]}}":                        "",
		"topics: {/imu: {type: acme_msgs/Val}}":                              "spec-type /imu",
		"topics: {/imu: {rate: {min: 100, max: 100}}}":                       "",
		"topics: {/imu: {rate: {min: 100.1}}}":                               "spec-rate /imu",
		"topics: {/imu: {rate: {max: 99.9}}}":                                "spec-rate /imu",
		"topics: {/silent: {rate: {min: 1}}}":                                "spec-rate /silent",
		"topics: {/silent: {optional: true, rate: {min: 1}, max_edge: 1ms}}": "",
		"topics: {/silent: {optional: true, count: {min: 1}}}":               "spec-count /silent",
		"topics: {/silent: {max_edge: 1ms, max_gap: 1ms}}":                   "spec-edge /silent",
		"topics: {/imu: {max_gap: 10ms, max_edge: 1ns}}":                     "",
		"topics: {/imu: {max_gap: 9.99ms}}":                                  "spec-gap /imu",
		"topics: {/imu: {count: {min: 300}}, /silent: {count: {max: 0}}}":    "",
		"topics: {/imu: {count: {min: 301}}}":                                "spec-count /imu",
	} {
		res := f.run(t, check.Options{Contract: parse(t, text)})
		var got []string
		for _, x := range res.Findings {
			if strings.HasPrefix(x.Code, "spec-") {
				got = append(got, x.Code+" "+x.Topic)
				if x.Severity != check.Error || x.Message == "" {
					t.Errorf("%s: %+v", text, x)
				}
			}
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	f, id := regular()
	f.add(id, start+5e9, value(start+5e9, 1))
	res := f.run(t, check.Options{Contract: parse(t, "topics: {/imu: {max_gap: 2s}}")})
	if !slices.ContainsFunc(res.Findings, func(x check.Finding) bool {
		return x.Code == "spec-gap" && x.Message == "it has no messages for 2.01s, longer than 2s"
	}) {
		t.Errorf("%+v", res.Findings)
	}
	for i := range int64(3000) {
		f.add(id, start-i, value(start, byte(i)))
	}
	res = f.run(t, check.Options{Contract: parse(t, "topics: {/imu: {max_gap: 1h}}")})
	if res.Findings[0].Code != "spec-gap" || res.Topics[0].MaxGap != nil {
		t.Errorf("%+v, %+v", res.Findings[0], res.Topics)
	}
}

// TestEdge: silence at the start and at the end of a recording counts as such.
func TestEdge(t *testing.T) {
	f, _ := regular()
	id := f.topic(sensor("/late"))
	f.add(id, start+2*1e9, value(start+2e9, 1))
	f.add(id, start+2990*ms, value(start+2990*ms, 1))
	if s := strings.Join(
		summary(f.run(t, check.Options{Contract: parse(t, "topics: {/late: {max_edge: 2s, max_gap: 990ms}}")})),
		","); strings.Contains(s, "spec") {
		t.Error(s)
	}
	if s := strings.Join(summary(f.run(t, check.Options{Contract: parse(t, "topics: {/late: {max_edge: 1999ms}}")})),
		","); !strings.Contains(s, "error spec-edge /late") {
		t.Error(s)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                          "it is empty; bagconv check --make-spec writes one",
		"topics: {}":                                                "it does not begin with contract: 1",
		"contract: 2":                                               "it has contract: 2, but only contract: 1 is supported",
		"contract: 1\nfoo: 3":                                       "line 2: unknown key foo",
		"contract: 1\ntopics: {/a: {rat: 3}}":                       "line 2: unknown key rat",
		"contract: 1\ntopics: [a]":                                  "line 2: a list does not belong here",
		"contract: 1\ntopics: {/a: , /a: }":                         `line 2: mapping key "/a" already defined at line 2`,
		"contract: 1\nduration: {min: 30}":                          `line 2: "30" is not a duration, such as 50ms, 2s or 1h30m`,
		"contract: 1\nduration: {max: -3s}":                         `line 2: "-3s" is not a duration, such as 50ms, 2s or 1h30m`,
		"contract: 1\nsize: {max: 2X}":                              `line 2: "2X" is not a size, such as 768K, 2G or 2GB`,
		"contract: 1\nsize: {max: 1e30}":                            `line 2: "1e30" is not a size, such as 768K, 2G or 2GB`,
		"contract: 1\nsize: {}":                                     "size: write {min: ...}, {max: ...} or both",
		"contract: 1\nmessages: {min: -1}":                          "messages: a limit below 0",
		"contract: 1\nmessages: {min: 2, max: 1}":                   "messages: min is more than max",
		"contract: 1\ntopics: {'a[': }":                             `topic a[: "a[" is not a glob: [ without ]`,
		"contract: 1\ntopics: {a: {rate: {min: .nan}}}":             "topic a: rate: a limit below 0",
		"contract: 1\ntopics: {a: {type: []}}":                      "line 2: type must be a name or a list of names",
		"contract: 1\ntopics: {a: {type: 're:('}}":                  "topic a: type: ",
		"contract: 1\ntopics: {a: {absent: true, count: {min: 1}}}": "topic a: absent allows no other key",
		"contract: 1\n---\ncontract: 1":                             "there is a second document after the contract (---)",
		"\t":                                                        "found character that cannot start any token",
	} {
		_, err := check.ParseContract([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "check.") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := check.ParseContract(bytes.Repeat([]byte("#"), 5<<20)); err == nil {
		t.Error("a contract of 5 MB is read")
	}
}

// TestMakeContract: what is made is kept by the recording, survives being
// written, and is broken by what has changed.
func TestMakeContract(t *testing.T) {
	f, _ := regular()
	for _, name := range []string{"/empty", "", "re:x", "/a*", "/a[b]?", "/gr\u00fc\u00df e: '\"", "/\xff", "/\xff*",
		"null", "\n", "a\x00\tb*", " ", "~", "/two"} {
		id := f.topic(storage.Topic{Name: name, Type: "", Encoding: "x"})
		if name != "/empty" {
			f.add(id, start, []byte{1})
		}
	}
	f.topic(storage.Topic{Name: "/two", Type: "a/B[]", Encoding: "x"})
	made := check.MakeContract(f.run(t, check.Options{}))
	text, err := made.Format()
	if err != nil {
		t.Fatal(err)
	}
	c, err := check.ParseContract(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	no := false
	c.OtherTopics = &no
	for _, s := range summary(f.run(t, check.Options{Contract: c})) {
		if strings.Contains(s, "spec-") && !strings.Contains(s, "/\xff*") { // a name that no pattern matches
			t.Errorf("%s\n%s", s, text)
		}
	}
	want := "  /imu:\n    type: acme_msgs/Value\n    rate: {min: 80, max: 125}\n    max_gap: 20ms\n    max_edge: 1s\n"
	if !strings.Contains(string(text), want) {
		t.Errorf("%s", text)
	}
	f.messages = slices.Delete(f.messages, 50, 150)
	if s := fmt.Sprint(summary(f.run(t, check.Options{Contract: c}))); !strings.Contains(s, "spec-gap /imu") ||
		!strings.Contains(s, "spec-rate /imu") {
		t.Error(s)
	}
}

// TestDocsContract: the example of docs/check.md is a contract, with every key.
func TestDocsContract(t *testing.T) {
	text, err := os.ReadFile("../../docs/check.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(text)
	if m == nil {
		t.Fatal("docs/check.md has no contract")
	}
	if _, err := check.ParseContract(m[1]); err != nil {
		t.Error(err)
	}
	for _, key := range []string{"contract", "duration", "size", "messages", "other_topics", "topics", "type", "rate",
		"max_gap", "max_edge", "count", "absent", "optional"} {
		if !bytes.Contains(m[1], []byte(key+":")) || !bytes.Contains(text, []byte("`"+key+"`")) {
			t.Errorf("docs/check.md does not have %s", key)
		}
	}
}

func FuzzContract(f *testing.F) {
	f.Add([]byte("contract: 1\nduration: {min: 1s}\nsize: {max: 2G}\ntopics:\n  /imu: {type: [a/B], rate: {min: 1}, " +
		"max_gap: 1s, count: {max: 3}}\n  're:x': {absent: true}\n"))
	f.Add([]byte("contract: 1\nother_topics: false\ntopics: {'*': {optional: true, max_edge: 1s}, b: }\n"))
	rec, _ := regular()
	rec.perBlock = 100
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := check.ParseContract(text)
		if err != nil {
			return
		}
		out, err := c.Format()
		if err != nil {
			t.Fatal(err)
		}
		again, err := check.ParseContract(out)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		second, err := again.Format()
		if err != nil || !bytes.Equal(out, second) {
			t.Fatalf("%v\n%s\n%s", err, out, second)
		}
	})
}
