package serve

import (
	"net/http"
	"strings"
)

// maxShows is how many recordings are played at once.
const maxShows = 32

// play plays a recording to a viewer by a WebSocket, until the viewer leaves.
func (s *Server) play(w http.ResponseWriter, r *http.Request) {
	rec := s.recordings().byName[strings.TrimPrefix(r.URL.Path, "/ws/")]
	if rec == nil {
		fail(w, http.StatusNotFound, "There is no such recording here; / lists what there is.")
		return
	}
	select {
	case s.shows <- struct{}{}:
	default:
		fail(w, http.StatusServiceUnavailable, "There are too many viewers; try again when one has left.")
		return
	}
	s.playing.Add(1)
	defer func() {
		<-s.shows
		s.playing.Done()
	}()
	sent, err := s.config.Play(w, r, *rec)
	if a, ok := w.(*answer); ok {
		a.bytes += sent
		a.err = err
	}
}
