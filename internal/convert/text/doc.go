// Package text writes messages of a recording as lines of text, each with its topic and time. It is a visitor of the
// recording: a line is compiled for each topic by its definition, and written on all cores.
//
//	p := text.New(os.Stdout, text.Options{Fields: []string{"/imu.angular_velocity", "/gps/*"}})
//	err := recording.Use(ctx, []recording.Ref{ref}, func(s []*recording.Source) error {
//		_, err := p.Read(ctx, s[0], recording.Query{})
//		return err
//	})
//	err = errors.Join(err, p.Flush())
//
//	Options.Fields      what is written
//	/gps/*              all of the messages of a topic, or of topics: see selection.Pattern
//	/imu.header.stamp   one field; in CSV a struct becomes the cells of its fields
//	no fields           all messages of all topics
//
// Package render draws the lines, and says how values are written. A CSV file has one list of columns, so that
// topics with different fields are refused. A topic without a definition is left out, and told.
package text
