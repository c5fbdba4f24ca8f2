package tables_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/export/tables"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
)

// ExampleNewCSV makes a table of two messages.
func ExampleNewCSV() {
	m, _ := rosmsg.Parse("p/Named", []byte("string name\nfloat64[] ranges\n"), rosmsg.ROS1, nil)
	t, err := message.ROS(m, serial.ROS1)
	if err != nil {
		fmt.Println(err)
		return
	}
	program, err := columns.Compile(t, columns.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	batch := program.NewBatch()
	for i, data := range []string{
		"\x04\x00\x00\x00left\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf0\x3f",
		"\x05\x00\x00\x00right\x00\x00\x00\x00",
	} {
		if err := batch.Append([]byte(data), int64(i), int64(i), 0); err != nil {
			fmt.Println(err)
			return
		}
	}
	table, err := tables.NewCSV(os.Stdout, program.Schema(), nil, tables.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	part, err := table.Encode(batch)
	if err == nil {
		err = errors.Join(table.Append(part), table.Close())
	}
	fmt.Println(err)
	// Output:
	// log_time,publish_time,name,ranges
	// 0,0,left,[1.0]
	// 1,1,right,[]
	// <nil>
}
