package report

// A Report is what the page shows: one recording, or two side by side. `bagconv report --json` writes it, and the page
// holds it as JSON. Times are seconds after the start of their recording, in float64, unless a comment says otherwise:
// they are exact to a microsecond in recordings of a hundred years. Lists are never null, and every list that can grow
// with the recording has a bound; what was left out stands in LeftOut.
type Report struct {
	Program    string      `json:"program"` // "bagconv 1.2.3"
	Recordings []Recording `json:"recordings"`
	Difference *Difference `json:"difference"` // of two recordings; else nil
}

// A Recording is what the report says of one recording.
type Recording struct {
	Name     string  `json:"name"`   // last element of the path
	Path     string  `json:"path"`   // without passwords of URLs
	Format   string  `json:"format"` // as of `info`
	Version  string  `json:"version"`
	Size     int64   `json:"size"`     // bytes; -1: unknown
	Hash     string  `json:"hash"`     // of the content of all messages, with --hash; else ""
	Start    string  `json:"start_ns"` // log time, ns since 1970, in decimal: a number of JavaScript cannot hold it
	Begin    string  `json:"begin"`    // the same for people: 2024-05-01 12:00:00.123456789 UTC; "" without messages
	Finish   string  `json:"finish"`   // the end, likewise
	Duration float64 `json:"duration"`
	Messages int64   `json:"messages"`
	Bytes    int64   `json:"bytes"` // of message data; -1: unknown
	Quick    bool    `json:"quick"` // read by the index only: no findings of messages, no bytes, no hash

	Properties []Property `json:"properties"` // compression, distribution, recorder and the like, in words
	Findings   []Finding  `json:"findings"`   // errors first, then warnings, then notes
	Errors     int        `json:"errors"`     // all findings of each severity, also findings that LeftOut counts
	Warnings   int        `json:"warnings"`
	Notes      int        `json:"notes"`
	Topics     []Topic    `json:"topics"`    // in order of name
	BinStart   float64    `json:"bin_start"` // when the first of Topic.Bins begins: 0, or a little less
	BinWidth   float64    `json:"bin_width"` // seconds
	Plots      []Plot     `json:"plots"`
	Tracks     []Track    `json:"tracks"`
	Cameras    []Camera   `json:"cameras"`
	Clouds     []Cloud    `json:"clouds"` // one at most for now
	Frames     []Frame    `json:"frames"` // the tree of transforms: parents before children
	Types      []Type     `json:"types"`
	Losses     []string   `json:"losses"`   // what the recording lost, by its reader and its recorder
	LeftOut    []string   `json:"left_out"` // what this report leaves out, in words: "19,000 of 20,000 topics"
}

// A Property is one line of the head.
type Property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Finding is one of check.
type Finding struct {
	Number   int      `json:"number"`
	Severity string   `json:"severity"` // error, warning, note
	Code     string   `json:"code"`
	Topic    string   `json:"topic"` // "": of the recording
	Count    int64    `json:"count"`
	Message  string   `json:"message"`
	Hint     string   `json:"hint"`
	Time     *float64 `json:"time"` // of the first message concerned; null: of no message
}

// A Topic is a row of the timeline.
type Topic struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Encoding string   `json:"encoding"`
	Messages int64    `json:"messages"`
	Bytes    int64    `json:"bytes"`    // -1: unknown
	Rate     float64  `json:"rate"`     // messages per second, the median; 0: fewer than three messages
	Expected float64  `json:"expected"` // by the contract, or 0
	First    float64  `json:"first"`
	Last     float64  `json:"last"`
	Bins     []uint32 `json:"bins"`   // messages in each BinWidth from BinStart on; all topics have the same number
	Gaps     []Span   `json:"gaps"`   // the longest first
	Bursts   []Span   `json:"bursts"` // stretches with many more messages than the rate says
	QoS      string   `json:"qos"`    // in words; "": the recording has none
}

// A Span is a stretch of time.
type Span struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// A Plot is one number of the messages of a topic over time. NaN and infinite values are null in JSON.
type Plot struct {
	Topic  string    `json:"topic"`
	Field  string    `json:"field"` // linear_acceleration.x
	Unit   string    `json:"unit"`  // m/s²; "": unknown
	Group  string    `json:"group"` // plots of one group share axes: "/imu linear_acceleration"
	Guess  bool      `json:"guess"` // chosen by us, not by --plot
	Times  []float64 `json:"times"` // ascending
	Values Numbers   `json:"values"`
	Whole  bool      `json:"whole"` // every message has a value; else least and greatest of each stretch
}

// A Track is where something was, in metres: x to the east or forward, y to the north or left.
type Track struct {
	Topic     string    `json:"topic"`
	Kind      string    `json:"kind"` // fix, odometry, pose
	Frame     string    `json:"frame"`
	Times     []float64 `json:"times"`
	X         Numbers   `json:"x"`
	Y         Numbers   `json:"y"`
	Latitude  float64   `json:"latitude"` // of the origin, degrees; 0 unless Kind is fix
	Longitude float64   `json:"longitude"`
	Length    float64   `json:"length"` // metres, of all positions
}

// A Camera is thumbnails of the pictures of a topic, in order of time.
type Camera struct {
	Topic   string      `json:"topic"`
	Width   int         `json:"width"` // of the pictures; 0: unknown
	Height  int         `json:"height"`
	Format  string      `json:"format"` // jpeg, bgr8, h264 ...
	Note    string      `json:"note"`   // why it has no samples: "H.264: this report decodes no video"
	Samples []Thumbnail `json:"samples"`
}

// A Thumbnail is one picture of at most 240 x 240 pixels.
type Thumbnail struct {
	Time   float64 `json:"time"`
	Width  int     `json:"width"`
	Height int     `json:"height"`
	JPEG   []byte  `json:"jpeg"` // base64 in JSON
}

// A Cloud is one cloud of points, thinned. Point i is at Center + Scale * (x, y, z) of its int16 values.
type Cloud struct {
	Topic  string     `json:"topic"`
	Frame  string     `json:"frame"`
	Time   float64    `json:"time"`
	Points int        `json:"points"` // shown
	All    int        `json:"all"`    // of the message
	Center [3]float64 `json:"center"` // metres
	Scale  float64    `json:"scale"`  // metres per unit
	XYZ    []byte     `json:"xyz"`    // int16 little-endian, 6 bytes a point; base64 in JSON
	Shade  []byte     `json:"shade"`  // a byte a point: intensity, or height without it
	By     string     `json:"by"`     // what Shade is: intensity, z
}

// A Frame is an edge of the tree of transforms.
type Frame struct {
	Name   string  `json:"name"`
	Parent string  `json:"parent"` // "" for a root
	Static bool    `json:"static"`
	Topic  string  `json:"topic"`
	Count  int64   `json:"count"`
	Rate   float64 `json:"rate"` // 0: static, or fewer than three
	Depth  int     `json:"depth"`
	Note   string  `json:"note"` // "has two parents: map, odom"
}

// A Type is a definition.
type Type struct {
	Name       string `json:"name"`
	Encoding   string `json:"encoding"`
	Hash       string `json:"hash"`       // md5sum or RIHS01; "" without one
	Definition string `json:"definition"` // text; "": the recording has none, or Report leaves it out
	Topics     int    `json:"topics"`
}

// A Difference is what verify says of two recordings.
type Difference struct {
	Equal   bool     `json:"equal"`
	Summary string   `json:"summary"`
	Lines   []string `json:"lines"`
}

// NewDifference returns a Difference whose texts are bounded.
func NewDifference(equal bool, summary string, lines []string) *Difference {
	d := &Difference{Equal: equal, Summary: cutAt(summary, maxSentence), Lines: []string{}}
	for i, line := range lines {
		if i == mostLines {
			d.Lines = append(d.Lines, plural(int64(len(lines)-i), "more line"))
			break
		}
		d.Lines = append(d.Lines, cutAt(line, maxSentence))
	}
	return d
}
