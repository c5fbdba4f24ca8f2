package verify

// Apart returns a job that reads the messages of both sides each for itself.
func Apart(job Job) Job {
	job.apart = true
	return job
}
