package guard

import "golang.org/x/sys/unix"

// isMount reports whether something is mounted at a folder, so that it cannot be moved.
func isMount(dir string) bool {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, dir, unix.AT_STATX_DONT_SYNC, 0, &st)
	return err == nil && st.Attributes&st.Attributes_mask&unix.STATX_ATTR_MOUNT_ROOT != 0
}
