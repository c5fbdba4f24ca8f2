package rosmsg_test

import (
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/schema/rosmsg"
)

// A definition is read, with standard types from a distribution; its md5sum is that of ROS 1.
func ExampleParse() {
	lookup := func(name string) (string, bool) { return builtin.Lookup("noetic", name) }
	m, err := rosmsg.Parse("acme_msgs/Status", []byte("Header header\nuint8[] codes\n"), rosmsg.ROS1, lookup)
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Name, len(m.Fields), "fields", schema.MD5(m))
	again, err := rosmsg.Parse(m.Name, rosmsg.Format(m, rosmsg.ROS1), rosmsg.ROS1, nil)
	fmt.Println(schema.Equal(m, again), err)
	_, err = rosmsg.Parse("acme_msgs/Status", []byte("uint8 a\nunt8 b\n"), rosmsg.ROS1, lookup)
	var wrong *rosmsg.Error
	fmt.Println(errors.As(err, &wrong), err)
	// Output:
	// acme_msgs/Status 2 fields 1780a97aee13330cbd5d926350745957
	// true <nil>
	// true definition of acme_msgs/unt8: it is missing; acme_msgs/Status uses it
}
