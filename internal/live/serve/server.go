package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/bagconv/bagconv/storage"
)

// A Recording is what is served under a name.
type Recording struct {
	Name   string // in addresses, with slashes for folders; unique
	Path   string
	Format *storage.Format
	Files  []File // what /files/Name has
}

// A File is one file of a recording.
type File struct {
	Part string // in addresses, below the name of the recording; "" if the recording is one file
	Path string
}

// Config describes a Server. Find and FS must be set.
type Config struct {
	FS storage.FS // from which files are read
	// what there is now; called again and again, but once at a time
	Find func() ([]Recording, error)
	// of pages that may read, such as https://app.foxglove.dev; "*": all
	Origins []string
	// names of this server, besides the names of the machine itself and addresses
	Hosts []string
	// in which recordings are served besides, at /FORMAT/NAME; nil: in no other format
	Sink   *storage.Format
	Open   func(context.Context, Recording) (Output, error)                // of a recording in Sink; set with it
	Report func(context.Context, Recording, ReportRequest) ([]byte, error) // nil: nobody can tell
	Log    func(Event)                                                     // nil: nobody wants to know

	// Whole reports whether programs that read only whole recordings can read the recording of one
	// file. It ends with the context. Nil: they all can.
	Whole func(context.Context, Recording) bool

	// Topics lists the topics of a recording with their types, for searches. It ends with the context. Nil: nobody
	// can tell.
	Topics func(context.Context, Recording) ([]string, error)

	// Fetch reads the beginning of a page of this machine, and gives up soon. Nil: no viewers of this machine.
	Fetch func(context.Context, string) (string, error)

	// Messages makes the table of the first messages of a topic. Nil: nobody shows them.
	Messages func(context.Context, Recording, string) (*Table, error)

	// Make converts a recording to a format of Formats for a download.
	Make    func(context.Context, Recording, string) (*Made, error)
	Formats []string

	// Play plays a recording to the viewer whose WebSocket a request begins, and returns the number of
	// bytes sent. An error is for the log. Nil: nothing is played.
	Play func(http.ResponseWriter, *http.Request, Recording) (int64, error)
}

// An Event is a request that was answered.
type Event struct {
	Method, Path, Range, Remote string
	Status                      int
	Bytes                       int64 // of the body
	Took                        time.Duration
	Err                         error // why it was not answered to its end
}

// The limits of a Server.
const (
	maxHeader      = 16 << 10 // bytes of the head of a request
	maxConnections = 1024     // the others wait
	headTime       = 10 * time.Second
	bodyTime       = time.Second // in which a body comes, which nobody needs
	idleTime       = 30 * time.Second
	stalledTime    = time.Minute // in which a client takes nothing of an answer
	closeTime      = 2 * time.Second
	findAgain      = 2 * time.Second // recordings that were found are all that there are for so long
)

// A Server serves recordings.
type Server struct {
	config Config
	mux    *http.ServeMux

	reports   *reports
	downloads chan struct{} // has an element for the one that is made
	tables    chan struct{} // has an element for each table that is made
	wholes    wholes
	topics    topics
	locals    locals

	shows   chan struct{} // has an element for each viewer
	playing sync.WaitGroup

	mu  sync.Mutex
	now table
	at  time.Time // of it
}

// New returns a server. Recordings are found with the first request.
func New(config Config) *Server {
	s := &Server{config: config, mux: http.NewServeMux(), shows: make(chan struct{}, maxShows), reports: newReports(),
		downloads: make(chan struct{}, 1), tables: make(chan struct{}, 2)}
	s.mux.HandleFunc("/{$}", s.page)
	s.mux.HandleFunc("/index.json", s.index)
	s.mux.HandleFunc("/files/", s.file)
	if config.Report != nil {
		s.mux.HandleFunc("/info/", s.info)
	}
	if config.Messages != nil {
		s.mux.HandleFunc("/messages/", s.messages)
	}
	if config.Make != nil {
		s.mux.HandleFunc("/as/", s.download)
	}
	if config.Sink != nil {
		s.mux.HandleFunc("/"+config.Sink.Name+"/", s.output)
	}
	if config.Play != nil {
		s.mux.HandleFunc("/ws/", s.play)
	}
	return s
}

// Serve answers requests until ctx ends; then the requests that are being answered have a moment to
// end. It closes the listener.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: headTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ConnContext: withConn,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(limitListener(listener, maxConnections)) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if server.Shutdown(last) != nil {
		_ = server.Close() // whoever still reads is cut off
	}
	s.playing.Wait() // WebSockets, which http.Server does not close
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	hasWhole(r.Context())
	a := &answer{ResponseWriter: w, began: time.Now()}
	defer func() {
		if e := recover(); e != nil {
			a.err = errors.Join(a.err, errPanic)
			s.log(a, r)
			panic(e)
		}
		s.log(a, r)
	}()
	if r.ContentLength != 0 { // http.Server reads the body before it answers
		// a connection without deadlines needs no deadline
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime))
	}
	if !s.admit(a, r) {
		return
	}
	s.mux.ServeHTTP(a, r)
}

// errPanic is what is logged of a handler that panics.
var errPanic = errors.New("internal error")

func (s *Server) log(a *answer, r *http.Request) {
	if s.config.Log == nil {
		return
	}
	s.config.Log(Event{
		Method: r.Method, Path: r.URL.Path, Range: r.Header.Get("Range"), Remote: r.RemoteAddr,
		Status: a.status, Bytes: a.bytes, Took: time.Since(a.began), Err: a.err,
	})
}

// An answer counts what is written, and ends the connection of a client that takes nothing.
type answer struct {
	http.ResponseWriter
	began  time.Time
	status int
	bytes  int64
	err    error
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	// a connection without deadlines needs no deadline
	_ = http.NewResponseController(a.ResponseWriter).SetWriteDeadline(time.Now().Add(stalledTime))
	n, err := a.ResponseWriter.Write(p)
	a.bytes += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// fail answers with an error, in plain words.
func fail(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	for _, name := range []string{"Etag", "Last-Modified", "Content-Length", "Content-Range", "Cache-Control"} {
		h.Del(name)
	}
	http.Error(w, text, status)
}
