package main

import (
	"regexp"
	"strings"
)

var (
	plainVersion = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)*)(?:-(.+))?$`)
	preRelease   = regexp.MustCompile(`^(alpha|beta|rc)\.?([0-9]+)$`)
	notInLocal   = regexp.MustCompile(`[^0-9a-z]+`)
)

// packageVersions returns a version as Debian and RPM write it, and as Python does (PEP 440).
// 1.2.3-rc.1 comes before 1.2.3: 1.2.3~rc.1 and 1.2.3rc1. What git describes, such as
// 1.2.3-5-g0123abc or 0123abc, comes after: 1.2.3+5.g0123abc and 0.0.0+0123abc, in both.
func packageVersions(version string) (system, python string) {
	base, rest := "0.0.0", version
	if m := plainVersion.FindStringSubmatch(version); m != nil {
		base, rest = m[1], m[2]
	}
	if rest == "" {
		return base, base
	}
	if m := preRelease.FindStringSubmatch(rest); m != nil {
		short := map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[m[1]]
		return base + "~" + rest, base + short + m[2]
	}
	local := base + "+" + strings.Trim(notInLocal.ReplaceAllString(strings.ToLower(rest), "."), ".")
	return local, local
}
