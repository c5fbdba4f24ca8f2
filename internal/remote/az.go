//go:build clouds

package remote

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

// An azContainer is a container of Azure Blob Storage. The parts of an object are blocks that belong to its
// name and are not committed. Nothing can give them up: Azure drops them when the name is written,
// or after a week. Their names begin with the id of the upload, so that two runs do not mix
// their blocks. Azure's ways of copying need a signature that not all credentials can make, or show an
// object before it is whole: so it is no copier.
type azContainer struct {
	client *container.Client
	anon   bool // there are no credentials
}

// azOptions make the library ask through the link: it makes no further attempts of its own.
func azOptions(l *link) policy.ClientOptions {
	return policy.ClientOptions{Transport: l.client, Retry: policy.RetryOptions{MaxRetries: -1},
		Telemetry: policy.TelemetryOptions{ApplicationID: "bagconv"}}
}

// newAZContainer returns the container of that name, of the account and with the credentials that
// Azure's programs use too.
func newAZContainer(l *link, name string) (store, error) {
	options := &container.ClientOptions{ClientOptions: azOptions(l)}
	account, key := os.Getenv("AZURE_STORAGE_ACCOUNT"), os.Getenv("AZURE_STORAGE_KEY")
	url := "https://" + account + ".blob.core.windows.net/" + name
	var client *container.Client
	var err error
	switch connection, token := os.Getenv("AZURE_STORAGE_CONNECTION_STRING"), os.Getenv("AZURE_STORAGE_SAS_TOKEN"); {
	case connection != "":
		if client, err = container.NewClientFromConnectionString(connection, name, options); err != nil {
			// the library's error may show the key
			err = errors.New("AZURE_STORAGE_CONNECTION_STRING is not a connection string of Azure")
		}
	case account == "":
		err = errors.New("set AZURE_STORAGE_ACCOUNT, or AZURE_STORAGE_CONNECTION_STRING; see docs/remote.md")
	case key != "":
		var shared *container.SharedKeyCredential
		if shared, err = container.NewSharedKeyCredential(account, key); err != nil {
			return nil, errors.New("AZURE_STORAGE_KEY is not a key of Azure") // as above
		}
		client, err = container.NewClientWithSharedKeyCredential(url, shared, options)
	case token != "":
		if client, err = container.NewClientWithNoCredential(url+"?"+strings.TrimPrefix(token, "?"), options); err != nil {
			err = errors.New("AZURE_STORAGE_ACCOUNT or AZURE_STORAGE_SAS_TOKEN has characters that no URL has") // as above
		}
	default:
		return azIdentity(l, url, options)
	}
	return &azContainer{client: client}, err
}

// azIdentity uses the identity of a service, of the machine or of the user. Without one it asks
// anonymously.
func azIdentity(l *link, url string, options *container.ClientOptions) (store, error) {
	plainHTTP := policy.ClientOptions{Transport: &http.Client{Timeout: l.settings.Timeout}}
	creds, err := azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{ClientOptions: plainHTTP})
	if err == nil {
		_, err = creds.GetToken(l.ctx, policy.TokenRequestOptions{Scopes: []string{"https://storage.azure.com/.default"}})
	}
	var client *container.Client
	anon := err != nil
	if anon {
		client, err = container.NewClientWithNoCredential(url, options)
	} else {
		client, err = container.NewClient(url, creds, options)
	}
	return &azContainer{client, anon}, err
}

// refused turns the answer of the server into a statusError.
func (c *azContainer) refused(err error) error {
	var r *azcore.ResponseError
	if err == nil || !errors.As(err, &r) {
		return err
	}
	s := &statusError{code: r.StatusCode, text: r.ErrorCode}
	switch {
	case r.ErrorCode == "InvalidBlockList": // the blocks were dropped, as another run has written the name
		s.code = http.StatusConflict
	case c.anon && (s.code == 401 || s.code == 403 || s.code == 404 || s.code == 409):
		s.code, s.text = 403, s.text+"; no credentials were found, see docs/remote.md for where they are taken from"
	}
	if r.RawResponse != nil {
		s.after = refusal(r.RawResponse).(*statusError).after
	}
	return s
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// azMetadata is the name under which an object has the id of its upload.
const azMetadata = "bagconvupload"

// azMark returns the mark of an object: the id of its upload, or else the MD5 of its bytes.
func azMark(metadata map[string]*string, sum []byte) string {
	for k, v := range metadata { // in any case, as a header
		if strings.EqualFold(k, azMetadata) {
			return value(v)
		}
	}
	return fmt.Sprintf("%x", sum)
}

func (c *azContainer) head(ctx context.Context, key string) (o object, _ []byte, err error) {
	p, err := c.client.NewBlobClient(key).GetProperties(ctx, nil)
	if err != nil {
		return o, nil, c.refused(err)
	}
	for k, v := range p.Metadata {
		if strings.EqualFold(k, "hdi_isfolder") && value(v) == "true" {
			return o, nil, &statusError{code: http.StatusNotFound, text: "it is a folder"}
		}
	}
	return object{size: value(p.ContentLength), etag: string(value(p.ETag)), modified: value(p.LastModified),
		mark: azMark(p.Metadata, p.ContentMD5)}, nil, nil
}

func (c *azContainer) get(ctx context.Context, key string, o *object, off, n int64) (io.ReadCloser, error) {
	tag := azcore.ETag(o.etag)
	resp, err := c.client.NewBlobClient(key).DownloadStream(ctx, &blob.DownloadStreamOptions{
		Range:            blob.HTTPRange{Offset: off, Count: n},
		AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: &tag}},
	})
	var s *statusError
	switch err = c.refused(err); {
	case errors.As(err, &s) && (s.code == http.StatusPreconditionFailed ||
		s.code == http.StatusRequestedRangeNotSatisfiable || s.code == http.StatusNotFound):
		return nil, errChanged
	case err != nil:
		return nil, err
	case value(resp.ETag) != tag:
		return nil, errors.Join(errChanged, resp.Body.Close())
	}
	return resp.Body, nil
}

func (c *azContainer) list(ctx context.Context, dir string, few bool) (entries []entry, err error) {
	options := &container.ListBlobsHierarchyOptions{Prefix: &dir}
	if few {
		limit := int32(2) // one may be the mark of the folder
		options.MaxResults = &limit
	}
	pages := c.client.NewListBlobsHierarchyPager("/", options)
	for more := true; more; more = pages.More() && !few {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, c.refused(err)
		}
		folders := map[string]bool{}
		for _, p := range page.Segment.BlobPrefixes {
			name := strings.TrimSuffix(strings.TrimPrefix(value(p.Name), dir), "/")
			folders[name] = true
			entries = append(entries, entry{name: name, dir: true})
		}
		for _, i := range page.Segment.BlobItems {
			name, p := strings.TrimPrefix(value(i.Name), dir), i.Properties
			if name != "" && !folders[name] { // some accounts have an object for each folder
				entries = append(entries, entry{name: name, object: object{size: value(p.ContentLength),
					etag: string(value(p.ETag)), modified: value(p.LastModified)}})
			}
		}
	}
	return entries, nil
}

// azOnly returns the conditions of a request that may replace nothing, nil if it may.
func azOnly(only bool) *blob.AccessConditions {
	if !only {
		return nil
	}
	existing := azcore.ETagAny
	return &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: &existing}}
}

func azBody(data []byte) (io.ReadSeekCloser, blob.TransferValidationTypeMD5) {
	sum := md5.Sum(data)
	return streaming.NopCloser(bytes.NewReader(data)), sum[:]
}

func (c *azContainer) put(ctx context.Context, key string, data []byte, only bool) error {
	body, sum := azBody(data)
	_, err := c.client.NewBlockBlobClient(key).Upload(ctx, body, &blockblob.UploadOptions{
		TransactionalValidation: sum, AccessConditions: azOnly(only), HTTPHeaders: &blob.HTTPHeaders{BlobContentMD5: sum},
	})
	return c.refused(err)
}

// begin makes a name for the blocks of an object.
func (c *azContainer) begin(context.Context, string) (string, error) {
	return fmt.Sprintf("%016x", rand.Uint64()), nil
}

func (c *azContainer) part(ctx context.Context, key, id string, number int, data []byte) (string, error) {
	body, sum := azBody(data)
	tag := c.tag(id, number, nil)
	_, err := c.client.NewBlockBlobClient(key).StageBlock(ctx, tag, body,
		&blockblob.StageBlockOptions{TransactionalValidation: sum})
	return tag, c.refused(err)
}

func (c *azContainer) complete(ctx context.Context, key, id string, tags []string, only bool) error {
	_, err := c.client.NewBlockBlobClient(key).CommitBlockList(ctx, tags, &blockblob.CommitBlockListOptions{
		AccessConditions: azOnly(only), Metadata: map[string]*string{azMetadata: &id},
	})
	return c.refused(err)
}

func (c *azContainer) abort(context.Context, string, string) error { return nil }
func (c *azContainer) keepsParts() bool                            { return false }

func (c *azContainer) remove(ctx context.Context, key string) error {
	_, err := c.client.NewBlobClient(key).Delete(ctx, nil)
	return c.refused(err)
}

func (c *azContainer) uploads(context.Context, string) ([]upload, error) { return nil, nil }

func (c *azContainer) lastPart(context.Context, string, string) (t time.Time, _ error) {
	return t, nil
}

// tag returns the name of a block; the names of all blocks of an object have one length.
func (c *azContainer) tag(id string, number int, data []byte) string {
	if id == "" {
		return hexSum(data)
	}
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s-%06d", id, number))
}

func (c *azContainer) mark(id string, _ []string) string { return id }

func (c *azContainer) where() string {
	where, _, _ := strings.Cut(c.client.URL(), "?")
	return where
}

var _ sink = (*azContainer)(nil)
