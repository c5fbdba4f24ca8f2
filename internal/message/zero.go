package message

import "github.com/bagconv/bagconv/internal/wire/ros"

// WriteZero writes the zero value of a field of ROS; single is a value of a list, and not the list.
func WriteZero(w *ros.Writer, f *Field, single bool) {
	switch {
	case f.List && !single && f.Fixed < 0:
		w.U32(0)
	case f.List && !single:
		for range f.Fixed {
			WriteZero(w, f, true)
		}
	case f.Wide:
		w.U32(0)
	case f.Kind == Text:
		w.String(nil)
	case f.Type != nil:
		if len(f.Type.Fields) == 0 && w.CDR() {
			w.U8(0)
		}
		for i := range f.Type.Fields {
			WriteZero(w, &f.Type.Fields[i], false)
		}
	default:
		w.Number(f.Size, 0)
	}
}
