// Package serve answers HTTP requests for recordings: their files, byte for byte and in ranges, and
// a page that lists them and searches in them.
//
//	/                     the page
//	/index.json           the same as JSON
//	/info/NAME[.json]     the report of a recording, which Config.Report makes; ?whole=1 of all of it
//	/messages/NAME?topic= the first messages of a topic as a table
//	/files/NAME[/PART]    the files of a recording
//	/ws/NAME              a WebSocket on which Config.Play plays a recording
//	/as/FORMAT/NAME       a recording in any format of Config.Formats, converted for the download
//	/FORMAT/NAME          a recording in the format Config.Sink, made while it is read
//
// It is read-only: GET, HEAD and OPTIONS. Only files of recordings that Config.Find has found are
// served, by their names in a table, so that no path of a request reaches the file system; links
// that lead out of a folder are refused when they are opened (see Confine).
//
// Other web pages must not read recordings. A request whose Host is a name that is not ours is
// refused: so does a page speak that has its own name resolved to this machine. A request of a page
// (with an Origin) is answered if the page comes from here, from another port of this machine, or
// from Config.Origins.
//
// Everything may be used concurrently.
package serve
