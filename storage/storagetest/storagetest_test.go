package storagetest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestReference: the suite passes a format that does everything right.
func TestReference(t *testing.T) {
	broken := os.Getenv("STORAGETEST_BROKEN")
	c := Config{
		Format: reference(broken), Encoding: "x", Name: "x.ref", FaultFS: true,
		Schema: storage.Schema{Encoding: "text", Data: []byte("a")},
		Others: []Definition{
			{"std_msgs/Int32", storage.Schema{Encoding: "text", Data: []byte("b")}},
			{"std_msgs/String", storage.Schema{Encoding: "text", Data: []byte("another")}},
		},
	}
	if broken != "reads all of it" {
		c.ReadsAll = "it is one gob"
	}
	Run(t, c)
}

// TestBroken: the suite fails each format that does one thing wrong. A failing
// test cannot be caught within a test, so each runs in a process of its own.
func TestBroken(t *testing.T) {
	for broken, found := range map[string]string{
		"loses the last message":                         "Recordings",
		"drops attachments":                              "Extras",
		"one attachment of a name":                       "Extras",
		"drops media types":                              "Extras",
		"drops times of attachments":                     "Extras",
		"reads attachments once":                         "Extras",
		"takes attachments of any size":                  "Extras",
		"drops metadata records":                         "Extras",
		"one metadata record of a name":                  "Extras",
		"miscounts":                                      "Recordings",
		"swaps messages of blocks":                       "Recordings",
		"bounds of parts that are too narrow":            "Recordings",
		"times of blocks that are too wide":              "Recordings",
		"blocks without one of their topics":             "Recordings",
		"keeps data":                                     "Recordings",
		"drops types":                                    "Recordings/whole",
		"drops encodings":                                "Recordings/whole",
		"carries one encoding in truth":                  "Recordings/whole",
		"drops definitions":                              "Recordings/whole",
		"drops the language of definitions":              "Recordings/whole",
		"one definition of a type":                       "Recordings/whole",
		"drops quality of service":                       "Recordings/whole",
		"one profile of a topic":                         "Recordings/whole",
		"drops metadata of topics":                       "Recordings/whole",
		"drops the recording's metadata":                 "Recordings/whole",
		"drops publish times":                            "Recordings/whole",
		"drops sequence numbers":                         "Recordings/whole",
		"takes two topics of one name for one":           "OneName/another_type",
		"refuses a second topic of one name for good":    "OneName/another_type",
		"Info that grows":                                "Constant",
		"Info that is shared":                            "Constant",
		"Info without damage":                            "Constant",
		"finds damage that is not there":                 "Constant",
		"forgets errors":                                 "Lifecycle",
		"shows itself early":                             "Lifecycle",
		"overwrites":                                     "Existing",
		"takes any option":                               "Options",
		"hides its place for extras":                     "Extras",
		"finishes at the end":                            "Finish",
		"commits when it finishes":                       "Finish",
		"leaves a temporary file":                        "Close",
		"adds to an empty copy":                          "Append/twice",
		"makes every topic anew":                         "Append/twice",
		"two add at once":                                "Append/refused",
		"adds to anything":                               "Append/refused",
		"shows what is added early":                      "Append/refused",
		"adds what contradicts":                          "Append/contradiction",
		"spoils data too early":                          "Aliasing",
		"shares memory of blocks":                        "Aliasing",
		"loses a block":                                  "BlockWriter",
		"other bytes each time":                          "Deterministic",
		"touches the source":                             "SourceUntouched",
		"sniffs at the disk":                             "Elsewhere",
		"does not stop":                                  "Cancelled",
		"ignores write errors":                           "WriteFaults",
		"hides the cause":                                "WriteFaults",
		"ignores read errors":                            "ReadFaults",
		"queries any topic":                              "Query/Refused",
		"does not stop queries":                          "Query/Refused",
		"queries without topics":                         "Query/sorted",
		"queries up to the end":                          "Query/equal_times",
		"queries forwards only":                          "Query/sorted",
		"queries return data that is not asked for":      "Query/sorted",
		"queries lose a message":                         "QueryDamage",
		"queries ignore read errors":                     "QueryFaults",
		"reads all of it":                                "QueryBytes",
		"queries move ReadNext":                          "Query/sorted",
		"queries give memory that is not theirs to give": "Query/sorted",
	} {
		t.Run(broken, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run", "^TestReference$/^"+strings.ReplaceAll(found, "/", "$/^")+"$")
			cmd.Env = append(os.Environ(), "STORAGETEST_BROKEN="+broken)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestReference/"+found) {
				t.Errorf("%s does not find it: %v\n%.2000s", found, err, out)
			}
		})
	}
}
