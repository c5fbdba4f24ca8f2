// Package migrate reads rules that tell how messages of an old version of a type become messages of
// a new one, compares the rules with both definitions, and writes a first draft of rules.
//
//	version: 1
//	types:
//	  - from: robot_msgs/msg/Drive     # the names of ROS 1 may be used, too
//	    md5: 0123...                   # only messages of this version; or hash: RIHS01_...
//	    to: base_msgs/msg/Drive        # the name that it has now; by default the same
//	    fields:
//	      kmh: {from: speed, scale: 3.6, offset: 0}
//	      mode: {values: {1: 10, 2: 20}}
//	      at.x: {from: x}
//	      label: {default: none}
//	    drop: [note]                   # fields that are lost on purpose
//	    lossy: [count]                 # fields whose values may not all fit, on purpose
//	  - from: robot_msgs/msg/Drive
//	    md5: 4567...
//	    definition: |                  # a version between: the result is looked up again
//	      float32 speed
//
// Keys of fields are paths in the new type, from and drop are paths in the old one. Fields without a
// rule are found by their name. A rule must name all that it loses.
//
// Refused are unknown keys, types and fields, two rules for one version of a type, and a rule that
// loses more than it names; an error names the line. Rules do not change and may be used
// concurrently.
package migrate
