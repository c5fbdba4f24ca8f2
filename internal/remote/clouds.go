//go:build clouds

package remote

// cloud connects to the stores that only the second build has.
func cloud(l *link, n *name) (store, error) {
	if n.scheme == "gs" {
		return newGSBucket(l, n.host)
	}
	return newAZContainer(l, n.host)
}
