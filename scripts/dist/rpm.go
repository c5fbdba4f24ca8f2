package main

import (
	"bytes"
	"os"
	"time"

	"github.com/google/rpmpack"
)

// rpmArchs are RPM's names of Go's architectures.
var rpmArchs = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// writeRPM makes an RPM package of the unpacked archive of a release, without scripts and
// dependencies. arch is RPM's name.
func writeRPM(out, folder, version, arch string, when time.Time) error {
	files, err := systemFiles(folder, "/usr/share/zsh/site-functions")
	if err != nil {
		return err
	}
	version, _ = packageVersions(version)
	pkg, err := rpmpack.NewRPM(rpmpack.RPMMetaData{
		Name: "bagconv", Version: version, Release: "1", Arch: arch, Summary: summary, Description: about, URL: home,
		Packager: maintainer, Licence: "unspecified", BuildHost: "localhost", BuildTime: when, Epoch: rpmpack.NoEpoch,
	})
	if err != nil {
		return err
	}
	add := func(name string, mode uint, data []byte) {
		pkg.AddFile(rpmpack.RPMFile{Name: name, Body: data, Mode: mode, Owner: "root", Group: "root", MTime: uint32(when.Unix())})
	}
	add("/usr/share/doc/bagconv", 0o40755, nil) // the one folder that no other package owns
	for _, f := range files {
		add(f.path, 0o100000|uint(f.mode), f.data)
	}
	var b bytes.Buffer
	if err := pkg.Write(&b); err != nil {
		return err
	}
	return os.WriteFile(out, b.Bytes(), 0o666)
}
