package cli

// servers returns the commands that other programs connect to.
func (e *env) servers() []command {
	return []command{{
		name: "serve", call: "serve PATH...", summary: "serve recordings over HTTP, to viewers",
		about: `Answers HTTP requests for recordings until it is interrupted, by Ctrl-C for
example. PATH is a recording, or a folder with all recordings in it and below. The
page at / lists them, with links that open them in viewers; /index.json has the
same as JSON. /files/NAME is a file as it is, whole or in ranges. {served}
is any recording as the file that bagconv convert would write with the same flags:
it is never written, but made while it is read, in the parts that are asked for.
For that a recording is read once, when somebody asks for it first. Chunks are not
compressed, unless --compression is set.

ws://HOST:PORT/ws/NAME plays a recording to a viewer by the Foxglove WebSocket
protocol: to Foxglove, Lichtblick, dashboards, and bagconv record. Each viewer has a
clock of its own, with which it can pause, seek and change the speed. One that does
not keep up slows its clock, unless --drop is set.

Nothing is written, and no other file is served: links that lead out of a folder,
and names that begin with a dot, are left out. Only this machine can connect,
unless --listen has another address; there is no password and no encryption. Web
pages from elsewhere can read only with --allow-origin.`,
		examples: []string{
			"bagconv serve drive{file}",
			"bagconv serve drives/ --allow-origin https://app.foxglove.dev",
			"bagconv serve drive_ros2/ -t '/camera/*' -t /tf --compression lz4",
			"bagconv serve monday{file} tuesday_ros2/ --merge week",
			"bagconv serve drives/ --listen :8765",
		},
		exits: []exit{
			{0, "interrupted: that is how it ends"},
			{1, "a recording cannot be read, or the address cannot be listened on"},
		},
		run: e.serve,
	}}
}
