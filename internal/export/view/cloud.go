package view

import (
	"github.com/bagconv/bagconv/internal/export/cloud"
	"github.com/bagconv/bagconv/internal/message"
)

// Cloud reads a sensor_msgs/PointCloud2. Its data are valid until the next call.
func (x *Values) Cloud() cloud.Cloud {
	c := cloud.Cloud{
		Height: uint32(x.UintAt("height")), Width: uint32(x.UintAt("width")), BigEndian: x.UintAt("is_bigendian") != 0,
		PointStep: uint32(x.UintAt("point_step")), RowStep: uint32(x.UintAt("row_step")), Fields: pointFields(x),
	}
	c.Data = x.BytesAt("data")
	return c
}

// pointFields reads the fields of a cloud.
func pointFields(x *Values) (list []cloud.Field) {
	f, ok := x.SeekAt("fields")
	if !ok {
		return nil
	}
	x.Elements(f, x.Count(f), func(int) {
		var one cloud.Field
		x.Fields(f.Type, func(f *message.Field) {
			switch f.Name {
			case "name":
				one.Name = string(x.Text(f))
			case "offset":
				one.Offset = uint32(x.Bits(f))
			case "datatype":
				one.Datatype = uint8(x.Bits(f))
			case "count":
				one.Count = uint32(x.Bits(f))
			default:
				x.Skip(f)
			}
		})
		list = append(list, one)
	})
	return list
}
