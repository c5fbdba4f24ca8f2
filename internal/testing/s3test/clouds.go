//go:build clouds

package s3test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

// Clouds are the servers of the second build.
var Clouds = []string{"fake-gcs-server", "azurite"}

// Azurite has one account, with a key that everybody knows.
const (
	azAccount = "devstoreaccount1"
	azKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

func init() {
	kinds["fake-gcs-server"] = &kind{
		variable: "BAGCONV_FAKE_GCS", program: "fake-gcs-server", scheme: "gs", front: gcsFront,
		args: func(_ *testing.T, address string) []string {
			host, port, _ := strings.Cut(address, ":")
			return []string{"-scheme", "http", "-host", host, "-port", port, "-backend", "memory", "-public-host", address,
				"-log-level", "error"}
		},
		use: func(t *testing.T, endpoint string) { t.Setenv("STORAGE_EMULATOR_HOST", endpoint) },
		create: func(endpoint string) error {
			resp, err := http.Post(endpoint+"/storage/v1/b?project=test", "application/json",
				bytes.NewReader([]byte(`{"name":"`+Bucket+`"}`)))
			if err == nil {
				err = resp.Body.Close()
			}
			return err
		},
		uploads: func(endpoint string) ([]string, error) { return gsKeys(endpoint, ".", true) },
		keys:    func(endpoint, prefix string) ([]string, error) { return gsKeys(endpoint, prefix, false) },
	}
	kinds["azurite"] = &kind{
		variable: "BAGCONV_AZURITE", program: "azurite-blob", scheme: "az",
		args: func(_ *testing.T, address string) []string {
			host, port, _ := strings.Cut(address, ":")
			return []string{"--blobHost", host, "--blobPort", port, "--inMemoryPersistence", "--silent", "--disableTelemetry",
				"--skipApiVersionCheck"}
		},
		use: func(t *testing.T, endpoint string) {
			t.Setenv("AZURE_STORAGE_CONNECTION_STRING", azConnection(endpoint))
		},
		create: func(endpoint string) error {
			_, err := azClient(endpoint).Create(context.Background(), nil)
			return err
		},
		uploads: func(endpoint string) ([]string, error) {
			all, err := azKeys(endpoint, "", true)
			whole, err2 := azKeys(endpoint, "", false)
			return slices.DeleteFunc(all, func(key string) bool { return slices.Contains(whole, key) }), errors.Join(err, err2)
		},
		keys: func(endpoint, prefix string) ([]string, error) { return azKeys(endpoint, prefix, false) },
	}
}

// gsKeys lists objects: with parts, the objects in folders of parts.
func gsKeys(endpoint, prefix string, parts bool) (keys []string, err error) {
	query := url.Values{"maxResults": {"100000"}}
	if !parts {
		query.Set("prefix", prefix)
	}
	resp, err := http.Get(endpoint + "/storage/v1/b/" + Bucket + "/o?" + query.Encode())
	if err != nil {
		return nil, err
	}
	var page struct{ Items []struct{ Name string } }
	err = errors.Join(json.NewDecoder(resp.Body).Decode(&page), resp.Body.Close())
	for _, o := range page.Items {
		if !parts || strings.Contains(o.Name, ".part/") {
			keys = append(keys, o.Name)
		}
	}
	return keys, err
}

func azConnection(endpoint string) string {
	return "DefaultEndpointsProtocol=http;AccountName=" + azAccount + ";AccountKey=" + azKey + ";BlobEndpoint=" +
		endpoint + "/" + azAccount + ";"
}

func azClient(endpoint string) *container.Client {
	client, err := container.NewClientFromConnectionString(azConnection(endpoint), Bucket, nil)
	if err != nil {
		panic("internal error: " + err.Error()) // it is our own
	}
	return client
}

// azKeys lists objects, with open also objects that have only blocks which are not committed.
func azKeys(endpoint, prefix string, open bool) (keys []string, err error) {
	pages := azClient(endpoint).NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: &prefix,
		Include: container.ListBlobsInclude{UncommittedBlobs: open}})
	for pages.More() {
		page, err := pages.NextPage(context.Background())
		if err != nil {
			return nil, err
		}
		for _, b := range page.Segment.BlobItems {
			keys = append(keys, *b.Name)
		}
	}
	return keys, nil
}
