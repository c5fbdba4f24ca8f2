// Package remote makes files of what stands on other machines: a URL is the name of an object, which is
// read in ranges through a cache of bounded size.
//
//	https://host/path, http://host/path   read only; the server must send ranges
//	s3://bucket/key                       S3, and servers that speak its language
//	gs://bucket/key, az://container/key   Google's and Azure's, with the build tag clouds
//
//	name.go    names: taking them apart, showing them without secrets
//	remote.go  the file system, which remembers for a moment what it has seen, and its settings
//	store.go   what a kind of store can do; web.go is http, s3.go is S3, with awsconfig.go;
//	           gs.go and gswrite.go are Google's, and az.go is Azure's
//	link.go    requests: how many at a time, how fast, how long, and again after a failure
//	cache.go   what has been read; ahead.go reads what will be asked for next
//	file.go    an object as a storage.File
//	write.go   files that are written; upload.go sends them in parts, which wait in scratch.go
//	place.go   puts what was sent in place, and cleans up; ledger.go knows what a killed process left
//
// It refuses names that filepath.Clean would change, writing to a web server, objects that
// change while they are read (never a mixture of two versions), and servers that do not send
// ranges. Passwords and the queries of URLs are neither in names nor in errors; they are not sent
// to another host than the one that was named.
//
// All of it is safe for concurrent use; a File only as far as other files are.
package remote
