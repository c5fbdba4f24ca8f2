package track

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestLines: both formats, to the character.
func TestLines(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(-1)
	for _, c := range []struct {
		pose       Pose
		tum, kitti string
		problem    Problem
	}{
		{Pose{1700000000123456789, 1.5, 0, -2, 0, 0, 0, 1}, "1700000000.123456789 1.5 0 -2 0 0 0 1",
			"1 0 0 1.5 0 1 0 0 0 0 1 -2", Sound},
		{Pose{-1, 0.1, 1e-7, 1e22, 0, 0, 1, 0}, "-0.000000001 0.1 1e-07 1e+22 0 0 1 0", "-1 0 0 0.1 0 -1 0 1e-07 0 0 1 1e+22",
			Sound},
		{Pose{math.MinInt64, 0, 0, 0, 0, 0, 0, 0}, "-9223372036.854775808 0 0 0 0 0 0 0", "1 0 0 0 0 1 0 0 0 0 1 0",
			ZeroQuaternion},
		{Pose{math.MaxInt64, 0, 0, 0, 0, 0, 0, -3}, "9223372036.854775807 0 0 0 0 0 0 -3", "1 0 0 0 0 1 0 0 0 0 1 0",
			NotNormalized},
		{Pose{1e9, 0, 0, 0, 1e300, 0, 0, 1e300}, "1.000000000 0 0 0 1e+300 0 0 1e+300", "1 0 0 0 0 0 -1 0 0 1 0 0",
			NotNormalized},
		{Pose{0, 0, 0, 0, 0, 1e-300, 0, 1e-300}, "0.000000000 0 0 0 0 1e-300 0 1e-300", "0 0 1 0 0 1 0 0 -1 0 0 0",
			NotNormalized},
		{Pose{0, inf, 0, 0, 0, 0, 0, 1}, "0.000000000 -inf 0 0 0 0 0 1", "1 0 0 -inf 0 1 0 0 0 0 1 0", NotFinite},
		{Pose{0, 0, nan, 0, nan, 0, 0, 1}, "0.000000000 0 nan 0 nan 0 0 1", "nan nan nan 0 nan nan nan nan nan nan nan 0",
			NotFinite},
		{Pose{0, 0, 0, -inf, 0, 0, 0, 1}, "0.000000000 0 0 inf 0 0 0 1", "1 0 0 0 0 1 0 0 0 0 1 inf", NotFinite},
	} {
		if got := string(AppendTUM([]byte("before "), c.pose)); got != "before "+c.tum+"\n" {
			t.Errorf("%+v: %q", c.pose, got)
		}
		if got := strings.ReplaceAll(string(AppendKITTI([]byte("before "), c.pose)), "-0 ", "0 "); got != "before "+c.kitti+
			"\n" {
			t.Errorf("%+v: %q", c.pose, got)
		}
		if got := c.pose.Problem(); got != c.problem {
			t.Errorf("%+v: problem %d", c.pose, got)
		}
	}
}

// TestPoseCounts: each problem has its number.
func TestPoseCounts(t *testing.T) {
	var c PoseCounts
	huge := math.MaxFloat64 // is finite, though the sum of two is not
	for _, p := range []Pose{{Time: -5, QW: 1}, {Time: 5, QW: 1}, {Time: 5, QW: math.NaN()}, {Time: 4}, {Time: 5, QW: 2},
		{Time: 6, X: huge, Y: huge, QW: 1}} {
		c.Add(&p)
	}
	if c != (PoseCounts{Poses: 6, NotFinite: 1, Zero: 1, NotNormalized: 1, Unordered: 1, last: 6}) {
		t.Errorf("%+v", c)
	}
}

// python returns the referees' Python.
func python(t *testing.T) string {
	t.Helper()
	path := os.Getenv("BAGCONV_CLOUDS_PYTHON")
	if path == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("BAGCONV_CLOUDS_PYTHON is missing")
		}
		t.Skip("BAGCONV_CLOUDS_PYTHON names no python with evo, gpxpy and geojson")
	}
	return path
}

// files writes files into a new folder, and returns their paths.
func files(t *testing.T, content ...[]byte) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for i, b := range content {
		paths = append(paths, filepath.Join(dir, strconv.Itoa(i)))
		if err := os.WriteFile(paths[i], b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

func toJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestEvo: evo reads the same numbers.
func TestEvo(t *testing.T) {
	python := python(t)
	r := rand.New(rand.NewPCG(1, 1))
	var tum, kitti []byte
	var poses [][]any
	for i := range 2000 {
		p := randomPose(r, 1700000000*second+int64(i)*12345678)
		length := math.Sqrt(p.QX*p.QX + p.QY*p.QY + p.QZ*p.QZ + p.QW*p.QW) // evo refuses what is not normalised
		p.QX, p.QY, p.QZ, p.QW = p.QX/length, p.QY/length, p.QZ/length, p.QW/length
		p.X *= math.Pow(10, float64(r.IntN(20)-10))
		tum, kitti = AppendTUM(tum, p), AppendKITTI(kitti, p)
		poses = append(poses, []any{p.Time, p.X, p.Y, p.Z, p.QX, p.QY, p.QZ, p.QW})
	}
	paths := files(t, toJSON(t, poses), tum, kitti)
	out, err := exec.Command(python, append([]string{"testdata/referee/trajectories.py"}, paths...)...).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != fmt.Sprint("compared ", len(poses)) {
		t.Errorf("%v\n%.3000s", err, out)
	}
}
