//go:build !linux && !darwin

package iox

func exchange(a, b string) error  { return unsupported("exchange", a, b) }
func renameNew(a, b string) error { return unsupported("rename", a, b) }
