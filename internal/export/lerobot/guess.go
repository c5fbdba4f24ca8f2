package lerobot

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/export/view"
	"github.com/bagconv/bagconv/storage"
)

// A candidate is a topic of which a data set can be made.
type candidate struct {
	topic string
	rate  float64 // messages in a second
	name  string  // of the ROS type that the messages are read as
	read  bool    // it has pictures
}

// candidates lists the topics with messages that can be read.
func candidates(info *storage.Info) (list []candidate) {
	seconds := float64(info.End-info.Start) / 1e9
	for i := range info.Topics {
		t := &info.Topics[i]
		if t.Messages == 0 {
			continue
		}
		r, err := view.ReaderOf(&t.Topic)
		if err != nil {
			continue
		}
		c := candidate{topic: t.Name, name: strings.Replace(t.Type, "/msg/", "/", 1)}
		if seconds > 0 {
			c.rate = float64(t.Messages) / seconds
		}
		if v := view.Of(&t.Topic, r); v != nil {
			c.name, c.read = v.Name, v.FrameReader() != nil
		}
		list = append(list, c)
	}
	return list
}

// stateFields are what the state is made of, by type, the best first.
var stateFields = []struct{ name, path string }{
	{"sensor_msgs/JointState", "position"},
	{"control_msgs/JointTrajectoryControllerState", "actual.positions"},
	{"std_msgs/Float64MultiArray", "data"},
	{"std_msgs/Float32MultiArray", "data"},
	{"geometry_msgs/PoseStamped", "pose"},
	{"nav_msgs/Odometry", "pose.pose"},
}

// actionFields are what the action is made of, if it is not another topic with a state.
var actionFields = []struct{ name, path string }{
	{"trajectory_msgs/JointTrajectory", "points[0].positions"},
	{"geometry_msgs/TwistStamped", "twist"},
	{"geometry_msgs/Twist", ""},
}

// actionWords are in the names of topics with what a robot is told to do.
var actionWords = []string{"leader", "action", "command", "cmd", "goal", "target", "teleop"}

// Guess returns the text of a mapping file for a recording: the state of its best topic of joints, the action of
// another one or of the next state, all topics with pictures as cameras, and the rate of the slowest of these.
func Guess(info *storage.Info) (string, error) {
	list := candidates(info)
	state, action := guessVectors(list)
	var cameras []string
	fps := math.Inf(1)
	used := map[string]bool{}
	for _, c := range list {
		if !c.read || hasRawTwin(list, c.topic) {
			continue
		}
		cameras = append(cameras, fmt.Sprintf("  %s: %s  # %.1f Hz", cameraName(c.topic, used), quoted(c.topic), c.rate))
		if c.rate > 0 {
			fps = min(fps, c.rate)
		}
	}
	if state == "" && len(cameras) == 0 {
		return "", errors.New("no topic has joints, poses or pictures")
	}
	if math.IsInf(fps, 1) {
		fps = 30
	}
	var b strings.Builder
	fmt.Fprintf(&b, "fps: %d\n", max(1, int(math.Round(fps))))
	fmt.Fprintf(&b, "task: %s  # what the robot does, or a topic with the text: /task:data\n", "describe the task")
	if state != "" {
		fmt.Fprintf(&b, "state: %s\naction: %s\n", quoted(state), quoted(action))
	}
	if len(cameras) > 0 {
		fmt.Fprintf(&b, "cameras:\n%s\n", strings.Join(cameras, "\n"))
	}
	b.WriteString("# robot_type: so100\n# sync: last        # nearest, linear\n# max_gap: 500ms\n" +
		"# episodes: file    # gap 5s, topic /episode, value /recording:data between 1 1\n# codec: h264       # av1, " +
		"stored, images\n")
	return b.String(), nil
}

// guessVectors returns the fields of the state and the action.
func guessVectors(list []candidate) (state, action string) {
	for _, f := range stateFields {
		for _, c := range list {
			if c.name != f.name {
				continue
			}
			isAction := slices.ContainsFunc(actionWords, func(w string) bool { return strings.Contains(c.topic, w) })
			switch field := c.topic + ":" + f.path; {
			case isAction && action == "":
				action = field
			case !isAction && state == "":
				state = field
			}
		}
	}
	if state == "" {
		state, action = action, ""
	}
	for _, f := range actionFields {
		for _, c := range list {
			if action == "" && c.name == f.name && f.path != "" {
				action = c.topic + ":" + f.path
			}
		}
	}
	if action == "" {
		action = "next(state)"
	}
	return state, action
}

// hasRawTwin reports whether a topic has the pictures of another one as they are, which is compressed.
func hasRawTwin(list []candidate, topic string) bool {
	return slices.ContainsFunc(list, func(c candidate) bool { return c.read && c.topic == topic+"/compressed" })
}

// cameraName returns a name for the camera of a topic: the first part of its name that says something.
func cameraName(topic string, used map[string]bool) string {
	name := ""
	for part := range strings.SplitSeq(strings.Trim(topic, "/"), "/") {
		if !slices.Contains([]string{"camera", "cam", "cameras", "image", "color", "image_raw", "compressed", "sensors"},
			part) {
			name = part
			break
		}
	}
	if name == "" {
		name, _, _ = strings.Cut(strings.Trim(topic, "/"), "/")
	}
	clean := []byte(name)
	for i, b := range clean {
		if !featureName(string([]byte{b})) {
			clean[i] = '_'
		}
	}
	base := string(clean)
	if base == "" {
		base = "camera"
	}
	for n := 2; used[string(clean)]; n++ {
		clean = fmt.Appendf(nil, "%s_%d", base, n)
	}
	used[string(clean)] = true
	return string(clean)
}

// quoted returns a text as YAML has it.
func quoted(s string) string {
	for _, r := range s {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_:.()[]-~", r) {
			return fmt.Sprintf("%q", s)
		}
	}
	return s
}

// Foresee says how the topics of a mapping go with its rate, by what a recording says about itself, and whether each
// camera has a message for each frame. Nothing is read of the messages, so that gaps do not show.
func Foresee(info *storage.Info, m *Mapping) (lines []string, holds bool) {
	list := candidates(info)
	holds = true
	cameras := map[string]bool{}
	for _, c := range m.Cameras {
		cameras[c.Topic] = true
	}
	for _, topic := range m.Topics() {
		i := slices.IndexFunc(list, func(c candidate) bool { return c.topic == topic })
		if i < 0 {
			lines, holds = append(lines, topic+": there is no message of it that can be read"), false
			continue
		}
		c := list[i]
		what := fmt.Sprintf("%s: %.1f Hz", topic, c.rate)
		switch {
		case cameras[topic] && !c.read:
			what, holds = what+", but it has no pictures", false
		case cameras[topic] && c.rate < 0.98*float64(m.FPS):
			what, holds = fmt.Sprintf("%s, which does not hold %d fps: %.0f %% of its frames will repeat the one before", what,
				m.FPS,
				100*(1-c.rate/float64(m.FPS))), false
		case c.rate > 1.02*float64(m.FPS):
			what = fmt.Sprintf("%s: %.0f %% of its messages will be in no frame", what, 100*(1-float64(m.FPS)/c.rate))
		}
		lines = append(lines, what)
	}
	return lines, holds
}
