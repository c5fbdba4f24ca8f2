package cli_test

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/testing/foxglovetest"
	"github.com/bagconv/bagconv/internal/testing/rostest"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// The scripts in testdata run the program itself, and commands that make their
// inputs: makebag writes a bag with our own writer, makeextras one with attachments, makemarkers a rosbag2 folder
// without definitions, maketopic one of a single topic, makeencodings a
// file with a topic of each encoding, makefile bytes.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"bagconv": func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			defer stop()
			run := cli.Run
			if os.Getenv("BAGCONV_TEST_MORE") != "" { // for TestShells
				run = cli.RunWithOneMore
			}
			os.Exit(run(ctx, os.Args, cli.System(), all.Registry()))
		},
		"makebag":       func() { exitOn(makeBag(os.Args[1:])) },
		"makemarkers":   func() { exitOn(makeMarkers(os.Args[1])) },
		"makeextras":    func() { exitOn(makeExtras(os.Args[1:])) },
		"maketopic":     func() { exitOn(makeTopic(os.Args[1:])) },
		"makeencodings": func() { exitOn(makeEncodings(os.Args[1])) },
		"makefile":      func() { exitOn(makeFile(os.Args[1:])) },
		"patch":         func() { exitOn(patch(os.Args[1], os.Args[2], os.Args[3])) },
		"truncate":      func() { exitOn(truncate(os.Args[1], os.Args[2])) },
		"fakeros":       func() { exitOn(fakeROS(os.Args[1])) },
		"fakefoxglove":  func() { exitOn(fakeFoxglove(os.Args[1])) },
		"waitfor":       func() { exitOn(waitFor(os.Args[1], strings.Join(os.Args[2:], ""))) },
		"exits":         func() { os.Exit(exits(os.Args[1:])) },
		"interrupted":   func() { os.Exit(interrupted(os.Args[1:])) },
		"served":        func() { os.Exit(served(os.Args[1:])) },
	})
}

func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("a process for each line takes minutes under the race detector")
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error { // $TESTDATA is the repository's, $WEB a server of the script's files
			dir, err := filepath.Abs("../../../testdata")
			e.Setenv("TESTDATA", dir)
			web := httptest.NewServer(http.FileServer(http.Dir(e.WorkDir)))
			e.Defer(web.Close)
			e.Setenv("WEB", web.URL)
			l, err2 := net.Listen("tcp", "127.0.0.1:0") // $ROS is a port that is free
			if err2 != nil {
				return err2
			}
			_, port, _ := net.SplitHostPort(l.Addr().String())
			e.Setenv("ROS", port)
			return errors.Join(err, l.Close())
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "reads-all":
				return os.Getuid() <= 0, nil // root, or Windows: chmod keeps nobody out
			case "dev-full":
				_, err := os.Stat("/dev/full")
				return err == nil, nil
			}
			return false, fmt.Errorf("there is no condition %q", name)
		},
	})
}

// patch overwrites bytes, in hex, at an offset of a file.
func patch(path, offset, digits string) error {
	at, err := strconv.ParseInt(offset, 10, 64)
	if err != nil {
		return err
	}
	b, err := hex.DecodeString(digits)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, at)
	return errors.Join(err, f.Close())
}

// truncate cuts a file.
func truncate(path, size string) error {
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil {
		return err
	}
	return os.Truncate(path, n)
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const text = `string data
`

const transforms = `geometry_msgs/TransformStamped[] transforms
`

const custom = `std_msgs/Header header
float64[9] gains
Part[] parts
================================================================================
MSG: acme_msgs/Part
string name
uint8[] data
`

// makeBag writes a second of messages: /chatter of two publishers, a latched
// /tf_static of empty messages, /parts of a type of our own.
func makeBag(args []string) error {
	flags := flag.NewFlagSet("makebag", flag.ContinueOnError)
	compression := flags.String("compression", "none", "")
	n := flags.Int("n", 10, "messages of each publisher of /chatter")
	unknown := flags.Bool("unknown", false, "add a topic whose definition is nowhere")
	cut := flags.Int64("cut", 0, "bytes to cut off the end")
	bad := flags.Bool("bad", false, "add a message to /chatter that does not fit its definition")
	rosout := flags.Bool("rosout", false, "add /rosout")
	bare := flags.Bool("bare", false, "leave the definition of /chatter out")
	format := flags.String("format", "bag", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	path := flags.Arg(0)
	w, err := all.Registry().Lookup(*format).Create(context.Background(), path,
		storage.WriteOptions{Compression: *compression, ChunkSize: 4 << 10})
	if err != nil {
		return err
	}
	topic := func(name, typ, md5, definition, caller, latching string) storage.TopicID {
		id, e := w.CreateTopic(storage.Topic{
			Name: name, Type: typ, Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg", Data: []byte(definition)},
			Metadata: map[string]string{storage.MetaMD5Sum: md5, storage.MetaCallerID: caller, storage.MetaLatching: latching},
		})
		if err == nil {
			err = e
		}
		return id
	}
	chatter := text
	if *bare {
		chatter = ""
	}
	const md5String = "992ce8a1687cec8c8bd883ec73ca41d1"
	a := topic("/chatter", "std_msgs/String", md5String, chatter, "/talker_a", "0")
	b := topic("/chatter", "std_msgs/String", md5String, chatter, "/talker_b", "0")
	tf := topic("/tf_static", "tf2_msgs/TFMessage", "94810edda583a504dfda3829e70d7eec", transforms, "/robot", "1")
	parts := topic("/parts", "acme_msgs/Parts", "*", custom, "/arm", "0")
	var odd, console storage.TopicID
	if *rosout {
		console = topic("/rosout", "rosgraph_msgs/Log", "acffd30cd6b6de30f120938c17c593fb", "", "/talker_a", "0")
	}
	if *unknown {
		odd = topic("/odd", "acme_msgs/Odd", "0123456789abcdef0123456789abcdef", "", "/odd", "0")
	}
	if err != nil {
		return err
	}
	const start, step = 1_700_000_000_000_000_000, 100_000_000
	write := func(id storage.TopicID, at int, data []byte) {
		if err == nil {
			t := int64(start + at*step)
			err = w.Write(&storage.Message{Topic: id, LogTime: t, PublishTime: t, Data: data})
		}
	}
	write(tf, 0, ros1String("")) // no transforms: a length of 0
	for i := range *n {
		write(a, i, ros1String(fmt.Sprintf("hello %d", i)))
		write(b, i, ros1String(strings.Repeat("x", 100)))
	}
	// Header: seq, stamp, frame_id; 9 gains; no parts.
	part := make([]byte, 12+4+72+4)
	binary.LittleEndian.PutUint32(part, 7)
	write(parts, 5, part)
	if *bad {
		write(a, 2, []byte{99, 0, 0, 0, 'x'})
	}
	if *unknown {
		write(odd, 5, []byte{1, 2, 3})
	}
	if *rosout { // Header, byte level, strings name, msg, file, function, uint32 line, topics
		log := append(append(make([]byte, 16), 8), make([]byte, 5*4)...)
		write(console, 6, append(append(log, 1, 0, 0, 0), ros1String("/chatter")...))
	}
	if err == nil {
		err = w.Commit()
	}
	if err != nil || *cut == 0 {
		return err
	}
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, st.Size()-*cut)
}

func ros1String(s string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(s))), s...)
}

// makeMarkers writes a rosbag2 folder with a topic of a type that has another
// definition in each distribution, and no definition.
func makeMarkers(path string) error {
	w, err := all.Registry().Lookup("db3").Create(context.Background(), path, storage.WriteOptions{})
	if err != nil {
		return err
	}
	if _, err := w.CreateTopic(storage.Topic{Name: "/marker", Type: "visualization_msgs/msg/Marker",
		Encoding: "cdr"}); err != nil {
		return err
	}
	return w.Commit()
}

// makeTopic writes a rosbag2 folder with the topic /x: args are its path, the type
// and its definition, and messages in hex.
func makeTopic(args []string) error {
	w, err := all.Registry().Lookup("db3").Create(context.Background(), args[0], storage.WriteOptions{})
	if err != nil {
		return err
	}
	t := storage.Topic{Name: "/x", Type: args[1], Encoding: "cdr"}
	if args[2] != "" {
		t.Schema = storage.Schema{Encoding: "ros2msg", Data: []byte(args[2])}
	}
	id, err := w.CreateTopic(t)
	if err != nil {
		return err
	}
	for i, text := range args[3:] {
		data, err := hex.DecodeString(text)
		if err != nil {
			return err
		}
		if err := w.Write(&storage.Message{Topic: id, LogTime: int64(i), PublishTime: int64(i), Data: data}); err != nil {
			return err
		}
	}
	return w.Commit()
}

// makeExtras writes an MCAP file with one message: args are its path and the names of
// attachments, each with its name as content; names that begin with = are those of
// metadata records.
func makeExtras(args []string) error {
	created, err := all.Registry().Lookup("mcap").Create(context.Background(), args[0], storage.WriteOptions{})
	if err != nil {
		return err
	}
	w := created.(interface {
		storage.Writer
		storage.ExtraWriter
	})
	id, err := w.CreateTopic(storage.Topic{Name: "/chatter", Type: "std_msgs/msg/String", Encoding: "cdr"})
	for i, name := range args[1:] {
		record, isRecord := strings.CutPrefix(name, "=")
		switch {
		case err != nil:
			return err
		case isRecord:
			m := storagetest.MetadataRecord{Name: record, Values: map[string]string{"robot": "r2"}}
			err = w.WriteMetadata(m.Source())
		default:
			a := storagetest.Attachment{Name: name, MediaType: "text/plain", LogTime: 1_700_000_000_000_000_000 + int64(i),
				Content: []byte(name)}
			err = w.WriteAttachment(a.Source())
		}
	}
	if err == nil {
		err = w.Write(&storage.Message{Topic: id, LogTime: 1_700_000_000_000_000_000, PublishTime: 1_700_000_000_000_000_000,
			Data: []byte{0, 1, 0, 0, 1, 0, 0, 0, 0}})
	}
	if err != nil {
		return err
	}
	return w.Commit()
}

// makeFile writes the bytes that its arguments have in hex.
func makeFile(args []string) error {
	data, err := hex.DecodeString(strings.Join(args[1:], ""))
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], data, 0o666)
}

// interrupted runs bagconv, interrupts it when it opens a recording,
// and succeeds when the exit status is 130.
func interrupted(args []string) int {
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	var formats []*storage.Format
	for _, f := range all.Registry().Formats() {
		opened := *f
		opened.Open = func(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
			interrupt()
			return f.Open(ctx, path, o)
		}
		if f.Reindex != nil {
			opened.Reindex = func(ctx context.Context, path string, o storage.ReindexOptions) ([]storage.IndexChange, error) {
				interrupt()
				return f.Reindex(ctx, path, o)
			}
		}
		formats = append(formats, &opened)
	}
	got := cli.Run(ctx, append([]string{"bagconv"}, args...), cli.System(), storage.NewRegistry(formats...))
	if got != 130 {
		fmt.Fprintf(os.Stderr, "exit status %d, want 130\n", got)
		return 1
	}
	return 0
}

// exits runs bagconv and turns its exit status into success when it is the
// first argument.
func exits(args []string) int {
	got := cli.Run(context.Background(), append([]string{"bagconv"}, args[1:]...), cli.System(), all.Registry())
	if fmt.Sprint(got) != args[0] {
		fmt.Fprintf(os.Stderr, "exit status %d, want %s\n", got, args[0])
		return 1
	}
	return 0
}

// fakeROS is a ROS master with publishers, until the process ends: /chatter of two nodes, with 10
// messages each, and /bad, with one that does not fit its definition.
func fakeROS(port string) error {
	m, err := rostest.NewMaster("127.0.0.1:" + port)
	if err != nil {
		return err
	}
	for _, node := range []string{"/first", "/second"} {
		p, err := rostest.Count(node, 10)
		if err != nil {
			return err
		}
		m.Publish("/chatter", "std_msgs/String", p)
	}
	bad, err := rostest.NewPublisher(func(c net.Conn) {
		_, _ = c.Write(append(rostest.StringHeader(), rostest.Message("\xff")...))
		_, _ = c.Read(make([]byte, 1))
	})
	if err != nil {
		return err
	}
	m.Publish("/bad", "std_msgs/String", bad)
	select {}
}

// waitFor waits for a port of this machine, or for a file of at least so many bytes.
func waitFor(what, bytes string) error {
	for range 1000 {
		if bytes == "" {
			if c, err := net.Dial("tcp", "127.0.0.1:"+what); err == nil {
				return c.Close()
			}
		}
		n, _ := strconv.ParseInt(bytes, 10, 64)
		for _, path := range glob(what) {
			if st, err := os.Stat(path); err == nil && bytes != "" && st.Size() >= n {
				return nil
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("%s does not come", what)
}

func glob(pattern string) []string {
	list, _ := filepath.Glob(pattern)
	return list
}

// fakeFoxglove is a server of the Foxglove WebSocket protocol, with 10 messages for each client.
func fakeFoxglove(port string) error {
	var messages [][]byte
	for i := range 10 {
		messages = append(messages, foxglovetest.Message(7, int64(1_700_000_000e9)+int64(i),
			foxglovetest.String(fmt.Sprint("number ", i))))
	}
	return http.ListenAndServe("127.0.0.1:"+port, foxglovetest.Handler("foxglove.sdk.v1",
		[]string{foxglovetest.Bridge, foxglovetest.Chatter}, messages, false))
}
