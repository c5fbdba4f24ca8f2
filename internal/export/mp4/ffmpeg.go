package mp4

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
)

// FindFFmpeg returns the path of ffmpeg, or "" if it is not on the path of programs.
func FindFFmpeg() string {
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		return ""
	}
	return path
}

func (o *EncodeOptions) encoder() string {
	if o.Encoder == "" {
		return "libx264"
	}
	return o.Encoder
}

// args are the arguments of ffmpeg: pixels from its input at any constant rate, so that it neither repeats nor
// leaves out a frame, to H.264 as a stream in which each access unit begins with a delimiter.
func (o *EncodeOptions) args(format PixelFormat, width, height int) []string {
	filter := "scale=out_color_matrix=bt709:out_range=tv"
	if width%2 != 0 || height%2 != 0 {
		filter = "pad=ceil(iw/2)*2:ceil(ih/2)*2," + filter
	}
	args := []string{"-hide_banner", "-loglevel", "error", "-nostdin",
		"-f", "rawvideo", "-pix_fmt", string(format), "-video_size", fmt.Sprintf("%dx%d", width, height),
		"-framerate", "30", "-i", "pipe:0",
		"-vf", filter, "-pix_fmt", "yuv420p", "-colorspace", "bt709", "-color_primaries", "bt709",
		"-color_trc", "bt709", "-color_range", "tv",
		"-threads", "4", "-c:v", o.encoder()}
	if o.Args == nil {
		args = append(args, "-preset", "veryfast", "-crf", "20")
	}
	args = append(args, o.Args...)
	return append(args, "-bf", "0", "-bsf:v", "h264_metadata=aud=insert", "-f", "h264", "pipe:1")
}

// A process is an ffmpeg that runs: this goroutine writes pixels to it, another one reads what it makes.
type process struct {
	ctx    context.Context
	cmd    *exec.Cmd
	in     io.WriteCloser
	errors tail
	done   chan struct{} // closed when all of its output is read

	mu    sync.Mutex
	times []int64 // of frames that are not read yet
	sent  int
	got   int
	err   error // of reading, or of the writer
	ended bool
}

// A frameSink takes the frames that ffmpeg makes, with the times that they had before.
type frameSink func(frame []byte, time int64) error

// A splitter calls do with each frame of a stream.
type splitter func(r io.Reader, do func([]byte) error) error

// start starts ffmpeg. What it makes, as split finds it, goes to sink, on another goroutine.
func start(ctx context.Context, ffmpeg string, args []string, split splitter, sink frameSink) (*process, error) {
	p := &process{ctx: ctx, done: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, ffmpeg, args...)
	p.cmd.Stderr = &p.errors
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start ffmpeg: %w", err)
	}
	go p.read(out, split, sink)
	return p, nil
}

// frame sends a picture.
func (p *process) frame(pixels []byte, time int64) error {
	p.mu.Lock()
	err := p.err
	if err == nil {
		p.times = append(p.times, time)
		p.sent++
	}
	p.mu.Unlock()
	if err != nil {
		return p.explain(err)
	}
	if _, err := p.in.Write(pixels); err != nil {
		if reason := p.close(); reason != nil { // ffmpeg has ended: it says why
			return reason
		}
		return p.explain(err)
	}
	return nil
}

// read gives each frame to sink with the time of its picture.
func (p *process) read(out io.Reader, split splitter, sink frameSink) {
	defer close(p.done)
	err := split(out, func(unit []byte) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.times) == 0 {
			return fmt.Errorf("ffmpeg made more frames than the %d pictures that it got", p.sent)
		}
		time := p.times[0]
		p.times = p.times[1:]
		p.got++
		return sink(unit, time)
	})
	if err == nil {
		return
	}
	p.mu.Lock()
	p.err = err
	p.mu.Unlock()
	io.Copy(io.Discard, out) //nolint:errcheck // so that ffmpeg, which may not read the end of its input before, ends
}

// close ends ffmpeg, and waits for it.
func (p *process) close() error {
	if p.ended {
		return p.err
	}
	p.ended = true
	p.in.Close() //nolint:errcheck // if ffmpeg has ended before, Wait says why
	<-p.done
	err := p.cmd.Wait()
	switch {
	case p.ctx.Err() != nil:
		p.err = p.ctx.Err()
	case p.err != nil:
	case err != nil:
		p.err = p.explain(err)
	case p.got != p.sent:
		p.err = fmt.Errorf("ffmpeg made %d frames of %d pictures", p.got, p.sent)
	}
	return p.err
}

// explain adds what ffmpeg printed to an error, which may be the error of a pipe that it has
// closed.
func (p *process) explain(err error) error {
	if p.ctx.Err() != nil {
		return p.ctx.Err()
	}
	if text := p.errors.String(); text != "" {
		return fmt.Errorf("ffmpeg: %w: %s", err, text)
	}
	return fmt.Errorf("ffmpeg: %w", err)
}

// accessDelimiter is in what ffmpeg makes before each access unit.
var accessDelimiter = []byte{0, 0, 1, avcDelimiter}

// eachAccessUnit calls do with each access unit of a stream of H.264 with delimiters.
func eachAccessUnit(r io.Reader, do func([]byte) error) error {
	var pending []byte // an access unit that may go on, from its start code on
	searched := 0      // how far it has no other delimiter
	room := make([]byte, 1<<18)
	for {
		n, err := r.Read(room)
		pending = append(pending, room[:n]...)
		for {
			at := bytes.Index(pending[min(searched, len(pending)):], accessDelimiter)
			if at < 0 {
				searched = max(searched, len(pending)-len(accessDelimiter)+1)
				break
			}
			if at += searched; at > 4 { // 4: the first one
				if err := do(pending[:at]); err != nil {
					return err
				}
				pending = pending[:copy(pending, pending[at:])]
			}
			searched = len(accessDelimiter)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if len(pending) > maxFrame {
			return fmt.Errorf("ffmpeg made a frame of more than %d bytes", maxFrame)
		}
	}
	if len(pending) == 0 {
		return nil
	}
	return do(pending)
}

// A tail keeps the last 2,000 bytes that are written.
type tail struct {
	mu sync.Mutex
	b  []byte
}

// Write keeps p.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if len(t.b) > 2000 {
		t.b = append(t.b[:0], t.b[len(t.b)-2000:]...)
	}
	return len(p), nil
}

// String returns it as a line.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(t.b), "?")), " ")
}
