package main

const (
	home    = "https://github.com/bagconv/bagconv"
	summary = "Converts, checks and repairs robot recordings"
	about   = "bagconv converts robot recordings between ROS 1 bags, rosbag2 folders, MCAP files and Apollo Cyber records."
)
