package through

import (
	"os/exec"
	"syscall"
)

// shell returns a command of the shell.
func shell(command string) *exec.Cmd {
	cmd := exec.Command("cmd.exe")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /S /C "` + command + `"`}
	return cmd
}

// killGroup kills the command. What it has started loses its pipes.
func killGroup(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // it may have ended
}
