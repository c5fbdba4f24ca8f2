//go:build !linux

package storage

func large([]byte) {}
