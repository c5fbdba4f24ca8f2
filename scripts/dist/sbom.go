package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// The part of SPDX 2.3 that is written (spdx.github.io/spdx-spec/v2.3).
type (
	spdxDocument struct {
		SPDXVersion       string             `json:"spdxVersion"`
		DataLicense       string             `json:"dataLicense"`
		SPDXID            string             `json:"SPDXID"`
		Name              string             `json:"name"`
		DocumentNamespace string             `json:"documentNamespace"`
		CreationInfo      spdxCreation       `json:"creationInfo"`
		Packages          []spdxPackage      `json:"packages"`
		Relationships     []spdxRelationship `json:"relationships"`
	}
	spdxCreation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		Name                  string         `json:"name"`
		SPDXID                string         `json:"SPDXID"`
		VersionInfo           string         `json:"versionInfo"`
		FileName              string         `json:"packageFileName,omitempty"`
		DownloadLocation      string         `json:"downloadLocation"`
		FilesAnalyzed         bool           `json:"filesAnalyzed"`
		LicenseConcluded      string         `json:"licenseConcluded"`
		LicenseDeclared       string         `json:"licenseDeclared"`
		CopyrightText         string         `json:"copyrightText"`
		PrimaryPackagePurpose string         `json:"primaryPackagePurpose"`
		Checksums             []spdxChecksum `json:"checksums,omitempty"`
		ExternalRefs          []spdxRef      `json:"externalRefs,omitempty"`
		Comment               string         `json:"comment,omitempty"`
	}
	spdxChecksum struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"checksumValue"`
	}
	spdxRef struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	spdxRelationship struct {
		Element string `json:"spdxElementId"`
		Type    string `json:"relationshipType"`
		Related string `json:"relatedSpdxElement"`
	}
)

const noAssertion = "NOASSERTION"

// writeSBOM lists the modules that binaries are made of, the standard library of
// Go among them, as the Go linker has written them into each ("go version -m").
// The same binaries lead to the same bytes.
func writeSBOM(w io.Writer, version string, binaries []string, when time.Time) error {
	doc := spdxDocument{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT", Name: "bagconv-" + version,
		CreationInfo: spdxCreation{when.Format(time.RFC3339), []string{"Tool: bagconv-scripts-dist"}},
	}
	all := sha256.New()
	ids := map[string]string{} // of the modules: module@version -> SPDXID
	for _, path := range binaries {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return err
		}
		sum, err := fileSum(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(all, "%x", sum)
		name := filepath.Base(path)
		id := fmt.Sprintf("SPDXRef-Binary-%d", len(doc.Relationships))
		pkg := newPackage("bagconv", id, version)
		pkg.FileName, pkg.PrimaryPackagePurpose = name, "APPLICATION"
		pkg.Checksums = []spdxChecksum{{"SHA256", hex.EncodeToString(sum)}}
		pkg.Comment = settingsText(info)
		doc.Packages = append(doc.Packages, pkg)
		doc.Relationships = append(doc.Relationships, spdxRelationship{doc.SPDXID, "DESCRIBES", id})

		deps := append([]*debug.Module{{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}}, info.Deps...)
		for _, m := range deps {
			if m.Replace != nil {
				m = m.Replace
			}
			key := m.Path + "@" + m.Version
			if ids[key] == "" {
				ids[key] = fmt.Sprintf("SPDXRef-Module-%d", len(ids))
				pkg := newPackage(m.Path, ids[key], m.Version)
				pkg.PrimaryPackagePurpose = "LIBRARY"
				if m.Sum != "" {
					pkg.Comment = "go.sum: " + m.Sum
				}
				pkg.ExternalRefs = []spdxRef{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + m.Path + "@" + m.Version}}
				doc.Packages = append(doc.Packages, pkg)
			}
			doc.Relationships = append(doc.Relationships, spdxRelationship{id, "DEPENDS_ON", ids[key]})
		}
	}
	if len(ids) == 0 {
		return errors.New("there are no binaries")
	}
	doc.DocumentNamespace = fmt.Sprintf("https://github.com/bagconv/bagconv/spdx/%s-%x", version, all.Sum(nil)[:16])
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(doc)
}

func newPackage(name, id, version string) spdxPackage {
	return spdxPackage{
		Name: name, SPDXID: id, VersionInfo: version, DownloadLocation: noAssertion,
		LicenseConcluded: noAssertion, LicenseDeclared: noAssertion, CopyrightText: noAssertion,
	}
}

// settingsText returns how a binary was built, without what depends on the machine.
func settingsText(info *debug.BuildInfo) string {
	parts := []string{info.GoVersion}
	for _, s := range info.Settings {
		if slices.Contains([]string{"GOOS", "GOARCH", "CGO_ENABLED", "-tags", "-trimpath", "-ldflags"}, s.Key) {
			parts = append(parts, s.Key+"="+s.Value)
		}
	}
	return strings.Join(parts, " ")
}

func fileSum(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}
