// Package track writes where something was: poses as TUM and KITTI trajectories, fixes of satellites as GeoJSON and
// GPX; and it computes poses from transforms between frames. It takes plain structs and knows no encoding of messages.
//
//	TUM      1700000000.123456789 1.5 0 -2 0 0 0 1          seconds x y z qx qy qz qw
//	KITTI    1 0 0 1.5 0 1 0 0 0 0 1 -2                     the rows of a 3x4 matrix: rotation, translation
//	GeoJSON  {"type":"FeatureCollection","features":[...]}  RFC 7946; a LineString a segment
//	GPX      <gpx><trk><trkseg><trkpt lat="" lon="">        version 1.1
//
// Times are nanoseconds since 1970, in int64, and are printed from these integers. Floats are printed with the
// fewest digits that give the same value again.
//
// A value that a format cannot hold is left out or changed as the format's comment says, and counted: see
// [PoseCounts] and [FixCounts].
//
// A [Buffer] answers as the BufferCore of ROS's tf2 does: the same numbers, and no answer to the same questions.
//
// Writers and the changes of a Buffer may not be used concurrently; [Buffer.Lookup] may, between changes.
//
// Sources: the trajectory formats of the TUM RGB-D benchmark and of KITTI's odometry; RFC 7946; the schema of GPX 1.1
// (topografix.com); sensor_msgs/NavSatFix and NavSatStatus; tf2 0.7.6 for the rules of transforms.
package track
