package through

import (
	"runtime"
	"syscall"
)

// dieWithUs has a process killed when the thread that starts it dies: when we are killed.
func dieWithUs(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// ownThread keeps the goroutine on its thread, until the function that it returns is called.
func ownThread() func() {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
