package convert

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A Stage keeps the outputs of several jobs until all of them are whole, and then puts
// them in place together. They lie in one folder. It is for one goroutine.
type Stage struct {
	out   *iox.Output
	names []string // that the outputs will have
	old   []string // names that go without being replaced: segments of another number
}

// NewStage starts a stage for jobs like this one, in the folder of path. The last part
// of path names it until Commit; a run that was killed is known by that name.
func NewStage(path string, job *Job) (*Stage, error) {
	o := job.Write
	out, err := iox.NewOutputs(newGuard(job).Writer(o.FS, o.Overwrite), path, o.Overwrite, !o.NoSync)
	if err != nil {
		return nil, err
	}
	return &Stage{out: out}, nil
}

// path returns where the output of a job is made.
func (s *Stage) path(job *Job) string {
	return filepath.Join(s.out.TempDir(), filepath.Base(job.Sink))
}

// add takes the output of a job; files are the output's files, or its folder.
func (s *Stage) add(job *Job, files []string) {
	for _, file := range files {
		s.names = append(s.names, filepath.Base(file))
	}
	if o := job.Write; o.SegmentSize > 0 || o.SegmentDuration > 0 {
		old, _ := job.SinkFormat.FilesOf(o.FS, job.Sink) // without an answer there are no files
		for _, file := range old.Messages {
			if filepath.Dir(file) == filepath.Dir(filepath.Clean(job.Sink)) {
				s.old = append(s.old, filepath.Base(file))
			}
		}
	}
}

// Commit puts the outputs in place: all of them, or none, and then what stood there
// stands there. When the process is killed meanwhile, CleanUp brings it to its end. An
// output that may not be overwritten is an error that wraps fs.ErrExist.
func (s *Stage) Commit() error {
	slices.Sort(s.old)
	return s.out.CommitAll(s.names, slices.Compact(s.old))
}

// Abort throws the outputs away. After Commit it does nothing.
func (s *Stage) Abort() error { return s.out.Abort() }

// A Leftover is what a run that was killed has left beside its output.
type Leftover = iox.Leftover

// CleanUp removes what runs that were killed have left of outputs at these paths, and
// puts whole outputs in place where they had begun to do so. Runs that are alive lose
// nothing, nor does what the jobs read. It is to be called before Run, for Job.Sink or
// for the path of a Stage, in the file system of the outputs (nil: the operating system's).
func CleanUp(fsys storage.FS, paths []string, jobs ...*Job) ([]Leftover, error) {
	var keep []string
	for i, job := range jobs {
		if i > 0 && job.Source == jobs[i-1].Source {
			continue
		}
		files, _ := job.SourceFormat.FilesOf(job.Read.FS, job.Source) // without an answer it cannot be read
		keep = append(keep, slices.Concat([]string{job.Source}, files.Folders, files.Messages, files.Beside)...)
	}
	var found []Leftover
	var failed error
	for _, path := range paths {
		l, err := iox.CleanUp(fsys, path, keep...)
		found, failed = append(found, l...), errors.Join(failed, err)
	}
	return found, failed
}
