// Reads frames of cat --raw --framed with generated code, and prints the messages as lines of cat:
// bytes as lists of numbers. It reads twice what it has written again.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"

	"x/loader"
)

func main() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	defer out.Flush()
	failed := false
	for {
		f, err := readFrame(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = f.print(out)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			failed = true
		}
		if f == nil {
			break
		}
	}
	if failed {
		out.Flush()
		os.Exit(1)
	}
}

type frame struct {
	time                 int64
	encoding, typ, topic string
	data                 []byte
}

func readFrame(in io.Reader) (*frame, error) {
	var size [4]byte
	if _, err := io.ReadFull(in, size[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.LittleEndian.Uint32(size[:]))
	if _, err := io.ReadFull(in, b); err != nil {
		return nil, fmt.Errorf("a frame ends early")
	}
	f := &frame{time: int64(binary.LittleEndian.Uint64(b))}
	e, t, p := int(binary.LittleEndian.Uint16(b[8:])), int(binary.LittleEndian.Uint16(b[10:])), int(binary.LittleEndian.Uint32(b[12:]))
	b = b[16:]
	f.encoding, f.typ, f.topic, f.data = string(b[:e]), string(b[e:e+t]), string(b[e+t:e+t+p]), b[e+t+p:]
	return f, nil
}

func unmarshal(m loader.Message, encoding string, data []byte) error {
	if encoding == "ros1" {
		return m.UnmarshalROS1(data)
	}
	return m.UnmarshalCDR(data)
}

func marshal(m loader.Message, encoding string) ([]byte, error) {
	if encoding == "ros1" {
		return m.MarshalROS1(nil)
	}
	return m.MarshalCDR(nil)
}

func (f *frame) print(out io.Writer) error {
	m := loader.New(f.topic, f.typ)
	if m == nil {
		return fmt.Errorf("no topic %s", f.topic)
	}
	if err := unmarshal(m, f.encoding, f.data); err != nil {
		if !errors.Is(err, loader.ErrMalformed) {
			panic(err)
		}
		return err
	}
	first, err := marshal(m, f.encoding)
	if err != nil {
		panic(err)
	}
	again := loader.New(f.topic, f.typ)
	if err := unmarshal(again, f.encoding, first); err != nil {
		panic(err)
	}
	second, err := marshal(again, f.encoding)
	if err != nil || !bytes.Equal(first, second) {
		panic(fmt.Sprintf("%s: what is written is not what is read: %v", f.topic, err))
	}
	var b strings.Builder
	text(&b, reflect.ValueOf(again).Elem())
	name, _ := json.Marshal(f.topic)
	_, err = fmt.Fprintf(out, `{"topic":%s,"time":"%d","fields":%s}`+"\n", name, f.time, b.String())
	return err
}

// text writes a value as JSON.
func text(b *strings.Builder, v reflect.Value) {
	switch t := v.Interface().(type) {
	case loader.ROSTime:
		fmt.Fprintf(b, `{"sec":%d,"nanosec":%d}`, t.Sec, t.Nsec)
		return
	case loader.ROSDuration:
		fmt.Fprintf(b, `{"sec":%d,"nanosec":%d}`, t.Sec, t.Nsec)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		b.WriteByte('{')
		for i := range v.NumField() {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(b, "%q:", v.Type().Field(i).Tag.Get("json"))
			text(b, v.Field(i))
		}
		b.WriteByte('}')
	case reflect.Slice, reflect.Array:
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			text(b, v.Index(i))
		}
		b.WriteByte(']')
	case reflect.Int64, reflect.Uint64:
		fmt.Fprintf(b, `"%d"`, v.Interface())
	case reflect.Float32, reflect.Float64:
		f := strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits())
		switch f {
		case "NaN":
			f = `"NaN"`
		case "+Inf":
			f = `"Infinity"`
		case "-Inf":
			f = `"-Infinity"`
		}
		b.WriteString(f)
	case reflect.String:
		s, _ := json.Marshal(v.String())
		b.Write(s)
	default:
		fmt.Fprint(b, v.Interface())
	}
}
