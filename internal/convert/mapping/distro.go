package mapping

import "github.com/bagconv/bagconv/storage"

// DefaultDistro is the ROS 2 distribution whose standard types hold if nothing names
// another.
const DefaultDistro = "humble"

// SourceDistro returns the ROS 2 distribution whose standard types hold for a recording
// with this metadata: the one that is asked for, else the one that the recording names if
// its types are built in, else DefaultDistro. certain reports whether a distribution was named.
func SourceDistro(requested string, metadata map[string]string) (distro string, certain bool) {
	if requested != "" {
		return requested, true
	}
	if d := metadata[storage.MetaDistro]; KnownDistro(d) {
		return d, true
	}
	return DefaultDistro, false
}
